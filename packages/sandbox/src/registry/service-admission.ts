/**
 * Gives a service addresses that no other service has: its cluster IP, and a port on every node if it wants one. The whole decision
 * happens at once, so two services that are created at the same time get different ones.
 */
import { prefixOf, section } from "../objects/kind.ts";
import { service } from "../objects/kinds/network.ts";
import type { ApiObject, JsonObject } from "../objects/object.ts";
import { field, invalid } from "../objects/status.ts";
import type { Store } from "../store/store.ts";

interface ServicePort extends JsonObject {
  nodePort?: number;
  protocol?: string;
}

interface ServiceSpec extends JsonObject {
  type?: string;
  clusterIP?: string;
  ports?: ServicePort[];
}

const specOf = (object: ApiObject) => section(object, "spec") as ServiceSpec;
const firstNodePort = 30_000;
const lastNodePort = 32_767;

/** @param asked the object before defaults were filled in */
export function admitService(
  store: Store,
  object: ApiObject,
  asked: ApiObject,
  old: ApiObject | undefined,
): ApiObject {
  const others = store
    .list(prefixOf(service, ""))
    .map(({ value }) => value)
    .filter(({ metadata }) => metadata.uid !== object.metadata.uid);
  const spec = withNodePorts(object, specOf(object), others);
  const { clusterIP } = spec;
  if (!clusterIP || clusterIP === "None" || (old && specOf(old).clusterIP === clusterIP))
    return { ...object, spec };
  const used = new Set(others.map((other) => specOf(other).clusterIP));
  if (!used.has(clusterIP)) return { ...object, spec };
  if (specOf(asked).clusterIP === clusterIP) {
    const why = `failed to allocate IP ${clusterIP}: provided IP is already allocated`;
    throw reject(object, [field.invalid("spec.clusterIPs", [clusterIP], why)]);
  }
  const free = nextAddress(clusterIP, used);
  return { ...object, spec: { ...spec, clusterIP: free, clusterIPs: [free] } };
}

/** The next address of 10.96.0.0/16. The first ones stay free for the cluster itself. */
function nextAddress(address: string, used: ReadonlySet<string | undefined>): string {
  const [, , third = 0, fourth = 0] = address.split(".").map(Number);
  for (let step = 1, at = third * 256 + fourth; step < 65_536; step++) {
    at = (at + 1) % 65_536;
    const candidate = `10.96.${at >> 8}.${at & 255}`;
    if (at > 20 && (at & 255) > 0 && (at & 255) < 255 && !used.has(candidate)) return candidate;
  }
  return address;
}

function withNodePorts(object: ApiObject, spec: ServiceSpec, others: readonly ApiObject[]): ServiceSpec {
  if ((spec.type !== "NodePort" && spec.type !== "LoadBalancer") || !spec.ports) return spec;
  const used = new Set(
    others.flatMap((other) => (specOf(other).ports ?? []).map(({ nodePort }) => nodePort ?? 0)),
  );
  const errors = spec.ports.flatMap(({ nodePort }, index) =>
    nodePort && used.has(nodePort)
      ? [field.invalid(`spec.ports[${index}].nodePort`, nodePort, "provided port is already allocated")]
      : [],
  );
  if (errors.length > 0) throw reject(object, errors);
  for (const { nodePort } of spec.ports) if (nodePort) used.add(nodePort);
  const ports = spec.ports.map((port) => {
    if (port.nodePort) return port;
    let free = firstNodePort;
    while (used.has(free) && free < lastNodePort) free += 1;
    used.add(free);
    return { ...port, nodePort: free };
  });
  return { ...spec, ports };
}

function reject(object: ApiObject, errors: ReturnType<typeof field.invalid>[]): Error {
  return invalid({ group: "", kind: "Service", name: object.metadata.name ?? "" }, errors);
}
