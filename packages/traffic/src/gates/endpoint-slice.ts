/**
 * Makes the leader the only endpoint of a Service without a selector. Clients keep the address of the Service, every
 * replica can be Ready, and no rollout waits for a standby. Guarantees: one slice with at most one endpoint; a stale leader
 * never adds itself again; closing empties the slice only if no later term has written it.
 * Not promised: how soon kube-proxy and clients follow. Open connections stay open. After a crash, the slice contains the
 * address of the dead leader until the next term begins, which is one lease later; if nobody can lead, for longer. Kubernetes may
 * give that address to another pod in this time.
 */

import { isIP } from "node:net";
import { quote, systemClock } from "@tenure/base";
import { nameProblem } from "@tenure/kube/internal";
import { rejectProblems, TrafficError } from "../errors.ts";
import type { Gate } from "../gate.ts";
import { electionLabel, electionLabelValue, managedBy } from "../names.ts";
import { type FencedKind, FencedObject } from "./fenced-object.ts";
import { type Call, KubeGate, type KubeGateOptions } from "./kube-gate.ts";
import { find, type KubeObject } from "./objects.ts";
import { type GivenPorts, portsFrom, type ServiceSpec, type SlicePort } from "./service-ports.ts";

export interface EndpointSliceOptions extends KubeGateOptions {
  /** The Service. It must have no selector: with one, Kubernetes adds every ready pod. */
  readonly service: string;
  /** The name of this pod. */
  readonly pod: string;
  /** The IP address of this pod: $POD_IP, set with the downward API (status.podIP). */
  readonly address: string;
  /** The name of the election. Two elections cannot share a slice. */
  readonly election: string;
  /** The port numbers of the pod, needed where the Service has a named targetPort. @default those of the Service */
  readonly ports?: GivenPorts;
  /** The name of the slice. @default the name of the Service, followed by `-leader` */
  readonly name?: string;
  /** @default unknown */
  readonly nodeName?: string;
  /** @default unknown */
  readonly podUid?: string;
}

const serviceNameLabel = "kubernetes.io/service-name";
const managedByLabel = "endpointslice.kubernetes.io/managed-by";

export function defaultSliceName(service: string): string {
  return `${service}-leader`;
}

export function endpointSlice(options: EndpointSliceOptions): Gate {
  const { namespace, service, pod, address, name = defaultSliceName(service) } = options;
  rejectProblems("write an EndpointSlice", [
    nameProblem("namespace", namespace),
    nameProblem("service", service),
    nameProblem("pod", pod),
    nameProblem("the name of the slice", name),
    isIP(address) === 0
      ? {
          field: "address",
          rule: "must be the IP address of the pod",
          value: quote(address),
          fix: "set POD_IP with the downward API (status.podIP)",
        }
      : undefined,
  ]);
  const clock = options.clock ?? systemClock;
  const backend = new FencedObject(sliceKind({ ...options, name }), () => clock.now().wallMs);
  return new KubeGate(`EndpointSlice ${name}`, backend, options);
}

function sliceKind(options: EndpointSliceOptions & { readonly name: string }): FencedKind {
  const { namespace, service, pod, address, name, nodeName, podUid } = options;
  const what = `EndpointSlice ${namespace}/${name}`;
  const collection = `/apis/discovery.k8s.io/v1/namespaces/${namespace}/endpointslices`;
  const election = electionLabelValue(options.election);
  const addressType = isIP(address) === 6 ? "IPv6" : "IPv4";
  let ports: readonly SlicePort[] = [];
  let owner: object | undefined;
  const endpoint = {
    addresses: [address],
    conditions: { ready: true, serving: true, terminating: false },
    targetRef: { kind: "Pod", namespace, name: pod, ...(podUid && { uid: podUid }) },
    ...(nodeName && { nodeName }),
  };
  return {
    what,
    collection,
    path: `${collection}/${name}`,
    async prepare(call) {
      const found = await readService(call, namespace, service);
      ports = portsFrom(found.spec as ServiceSpec, options.ports, `Service ${namespace}/${service}`);
      // Kubernetes deletes the slice together with the Service.
      owner = { apiVersion: "v1", kind: "Service", name: service, uid: found.metadata.uid };
    },
    accept(object) {
      const { labels = {} } = object.metadata;
      const why =
        labels[managedByLabel] !== managedBy
          ? `it is managed by ${labels[managedByLabel] ?? "another controller"} (label ${managedByLabel})`
          : labels[electionLabel] !== election
            ? `it belongs to the election ${labels[electionLabel]} (label ${electionLabel})`
            : labels[serviceNameLabel] !== service
              ? `it belongs to the Service ${labels[serviceNameLabel]} (label ${serviceNameLabel})`
              : object.addressType !== addressType
                ? `its address type is ${object.addressType}, which cannot be changed, but the address of this pod is ${addressType}`
                : undefined;
      if (why)
        throw new TrafficError("Taken", `Cannot use the ${what}: ${why}. Delete it, or choose another name.`);
    },
    blank: () => ({
      apiVersion: "discovery.k8s.io/v1",
      kind: "EndpointSlice",
      metadata: {
        name,
        namespace,
        labels: {
          [serviceNameLabel]: service,
          [managedByLabel]: managedBy,
          [electionLabel]: election,
        },
        ...(owner && { ownerReferences: [owner] }),
      },
      addressType,
    }),
    fill: (object, isNamed) => ({ ...object, ports, endpoints: isNamed ? [endpoint] : [] }),
    isEmpty: ({ endpoints }) => !Array.isArray(endpoints) || endpoints.length === 0,
    isFilled: (object) => isSole(object.endpoints, endpoint) && samePorts(object.ports, ports),
  };
}

async function readService(call: Call, namespace: string, service: string): Promise<KubeObject> {
  const found = await find(call, `/api/v1/namespaces/${namespace}/services/${service}`);
  if (!found) {
    throw new TrafficError(
      "CannotOpen",
      `Cannot route to the leader: the Service ${namespace}/${service} does not exist. Create it without a selector.`,
    );
  }
  const { selector, type } = found.spec as ServiceSpec;
  if (Object.keys(selector ?? {}).length > 0) {
    throw new TrafficError(
      "CannotOpen",
      `Cannot route to the leader only: the Service ${namespace}/${service} has a selector (${JSON.stringify(selector)}), so Kubernetes adds ` +
        "every ready pod. Remove spec.selector, or add tenure.dev/role: leader to the selector and use the pod label instead.",
    );
  }
  if (type === "ExternalName") {
    throw new TrafficError(
      "CannotOpen",
      `Cannot route to the leader: the Service ${namespace}/${service} has the type ExternalName and therefore no endpoints.`,
    );
  }
  return found;
}

function isSole(endpoints: unknown, own: { addresses: string[] }): boolean {
  const [first, ...more] = (Array.isArray(endpoints) ? endpoints : []) as {
    addresses?: string[];
    conditions?: { ready?: boolean };
  }[];
  return (
    more.length === 0 &&
    first?.addresses?.length === 1 &&
    first.addresses[0] === own.addresses[0] &&
    first.conditions?.ready !== false
  );
}

function samePorts(ports: unknown, own: readonly SlicePort[]): boolean {
  const text = (list: readonly SlicePort[]) =>
    list
      .map(({ name, port, protocol }) => `${name}/${protocol}/${port}`)
      .sort()
      .join();
  return Array.isArray(ports) && text(ports) === text(own);
}
