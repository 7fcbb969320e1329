/**
 * The leader as the one endpoint of a Service without a selector: clients keep the Service's address, every replica can be
 * Ready, and no rollout waits for a standby. Upholds: one slice with at most one endpoint; a zombie never puts itself back;
 * closing empties it only while it is still ours.
 * Not promised: how soon kube-proxy and clients follow, and connections that are open already stay. After a crash the dead
 * leader's address stays until its successor has replaced it.
 */
import { isIP } from "node:net";
import { TrafficError } from "../errors.ts";
import type { Gate } from "../gate.ts";
import { electionLabel, electionLabelValue, managedBy, nameProblem } from "../names.ts";
import { systemClock } from "../platform.ts";
import { type FencedKind, FencedObject } from "./fenced-object.ts";
import { type Call, KubeGate, type KubeGateOptions } from "./kube-gate.ts";
import { find, type KubeObject } from "./objects.ts";
import { type GivenPorts, portsFrom, type ServiceSpec, type SlicePort } from "./service-ports.ts";

export interface EndpointSliceOptions extends KubeGateOptions {
  /** The Service; it must have no selector, or Kubernetes itself adds every ready pod beside the leader. */
  readonly service: string;
  /** This pod's name. */
  readonly pod: string;
  /** This pod's IP address: $POD_IP by the downward API (status.podIP). */
  readonly address: string;
  /** The election's name: two elections must not share a slice. */
  readonly election: string;
  /** Ports of the pod where the Service's targetPort does not say them: it may be a name. @default as the Service says */
  readonly ports?: GivenPorts;
  /** The name of the slice. @default the Service's name with -leader behind it */
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
  const problems = [
    nameProblem("namespace", namespace),
    nameProblem("service", service),
    nameProblem("pod", pod),
    nameProblem("the name of the slice", name),
    isIP(address) === 0
      ? `address must be the IP address of the pod, as POD_IP has it by the downward API: ${JSON.stringify(address)}`
      : undefined,
  ].filter((problem) => problem !== undefined);
  if (problems.length > 0)
    throw new TrafficError("InvalidOptions", `Cannot write an EndpointSlice: ${problems.join("; ")}.`);
  const clock = options.clock ?? systemClock;
  const place = new FencedObject(sliceKind({ ...options, name }), () => clock.now().wallMs);
  return new KubeGate(`EndpointSlice ${name}`, place, options);
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
      // The slice goes when the Service does.
      owner = { apiVersion: "v1", kind: "Service", name: service, uid: found.metadata.uid };
    },
    accept(object) {
      const { labels = {} } = object.metadata;
      const why =
        labels[managedByLabel] !== managedBy
          ? `it is managed by ${labels[managedByLabel] ?? "somebody else"} (label ${managedByLabel})`
          : labels[electionLabel] !== election
            ? `it belongs to the election ${labels[electionLabel]} (label ${electionLabel})`
            : labels[serviceNameLabel] !== service
              ? `it belongs to the Service ${labels[serviceNameLabel]} (label ${serviceNameLabel})`
              : object.addressType !== addressType
                ? `its addresses are ${object.addressType}, that of this pod is ${addressType}, and Kubernetes lets nobody change that`
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
    isFilled: (object) => isSole(object.endpoints, endpoint) && samePorts(object.ports, ports),
  };
}

async function readService(call: Call, namespace: string, service: string): Promise<KubeObject> {
  const found = await find(call, `/api/v1/namespaces/${namespace}/services/${service}`);
  if (!found) {
    throw new TrafficError(
      "CannotOpen",
      `Cannot route to the leader: there is no Service ${namespace}/${service}. Create it, without a selector.`,
    );
  }
  const { selector, type } = found.spec as ServiceSpec;
  if (Object.keys(selector ?? {}).length > 0) {
    throw new TrafficError(
      "CannotOpen",
      `Cannot route to the leader alone: the Service ${namespace}/${service} has a selector (${JSON.stringify(selector)}), by which ` +
        "Kubernetes adds every ready pod. Remove spec.selector, or let the selector ask for tenure.dev/role: leader and use the pod label.",
    );
  }
  if (type === "ExternalName") {
    throw new TrafficError(
      "CannotOpen",
      `Cannot route to the leader: the Service ${namespace}/${service} is an ExternalName, which has no endpoints.`,
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
