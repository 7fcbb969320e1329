/** The EndpointSlices of a Service: desired endpoints in, writes out. Endpoints stay in their slice, so that few slices change. */
import type { Endpoint, EndpointPort, EndpointSlice } from "../../client/endpoint-objects.ts";
import type { Labels, Node, Pod, Service } from "../../client/objects.ts";
import { isReady, isTerminating } from "../../client/pods.ts";
import { canonicalText } from "../names.ts";
import { addressOf, type Family, familiesOf, hostnameOf, isHeadless, membersOf, portsOf } from "./members.ts";

export const serviceNameLabel = "kubernetes.io/service-name";
export const managedByLabel = "endpointslice.kubernetes.io/managed-by";
export const managedBy = "endpointslice-controller.k8s.io";
export const headlessLabel = "service.kubernetes.io/headless";
const zoneLabel = "topology.kubernetes.io/zone";
/** The most endpoints in a slice. */
const mostEndpoints = 100;

export interface NewSlice {
  readonly addressType: Family;
  readonly endpoints: readonly Endpoint[];
  readonly ports: readonly EndpointPort[];
}

export interface SliceChanges {
  readonly create: readonly NewSlice[];
  readonly replace: readonly EndpointSlice[];
  readonly delete: readonly EndpointSlice[];
}

/** @param existing the slices of the Service that this controller manages */
export function decideSlices(
  service: Service,
  pods: readonly Pod[],
  existing: readonly EndpointSlice[],
  nodeOf: (name: string) => Node | undefined,
): SliceChanges {
  const changes = { create: [] as NewSlice[], replace: [] as EndpointSlice[], delete: [] as EndpointSlice[] };
  const families = familiesOf(service);
  changes.delete.push(...existing.filter(({ addressType }) => !families.includes(addressType as Family)));
  for (const family of families) {
    const present = existing.filter(({ addressType }) => addressType === family);
    const groups = desiredGroups(service, pods, family, nodeOf);
    const kept = new Set<EndpointSlice>();
    for (const [key, { ports, endpoints }] of groups) {
      const own = present.filter((slice) => canonicalText(slice.ports ?? []) === key);
      for (const slice of own) kept.add(slice);
      fill(service, family, ports, endpoints, own, changes);
    }
    changes.delete.push(...present.filter((slice) => !kept.has(slice)));
  }
  return changes;
}

export function sliceLabels(service: Service): Labels {
  const { [headlessLabel]: _headless, ...own } = service.metadata.labels ?? {};
  return {
    ...own,
    [serviceNameLabel]: service.metadata.name,
    [managedByLabel]: managedBy,
    ...(isHeadless(service) ? { [headlessLabel]: "" } : {}),
  };
}

interface Group {
  readonly ports: readonly EndpointPort[];
  readonly endpoints: Map<string, Endpoint>;
}

/** Endpoints with the same ports. Pods may map the name of a port to different numbers. */
function desiredGroups(
  service: Service,
  pods: readonly Pod[],
  family: Family,
  nodeOf: (name: string) => Node | undefined,
): Map<string, Group> {
  const groups = new Map<string, Group>();
  for (const pod of membersOf(service, pods)) {
    const address = addressOf(pod, family);
    if (address === undefined) continue;
    const ports = portsOf(service, pod);
    const key = canonicalText(ports);
    const group = groups.get(key) ?? { ports, endpoints: new Map() };
    group.endpoints.set(pod.metadata.uid, endpointOf(service, pod, address, nodeOf(pod.spec.nodeName ?? "")));
    groups.set(key, group);
  }
  // A Service without endpoints has one empty slice, so that consumers see that it has none.
  if (groups.size === 0) groups.set(canonicalText([]), { ports: [], endpoints: new Map() });
  return groups;
}

function endpointOf(service: Service, pod: Pod, address: string, node: Node | undefined): Endpoint {
  const { name, namespace, uid } = pod.metadata;
  const [serving, terminating] = [isReady(pod), isTerminating(pod)];
  const ready = service.spec?.publishNotReadyAddresses === true || (serving && !terminating);
  const hostname = hostnameOf(pod, service);
  const zone = node?.metadata.labels?.[zoneLabel];
  return {
    addresses: [address],
    conditions: { ready, serving, terminating },
    ...(hostname ? { hostname } : {}),
    ...(pod.spec.nodeName ? { nodeName: pod.spec.nodeName } : {}),
    targetRef: { kind: "Pod", ...(namespace ? { namespace } : {}), name, uid },
    ...(zone ? { zone } : {}),
  };
}

/** Distributes the endpoints of one group over its slices. */
function fill(
  service: Service,
  family: Family,
  ports: readonly EndpointPort[],
  desired: Map<string, Endpoint>,
  slices: readonly EndpointSlice[],
  changes: { create: NewSlice[]; replace: EndpointSlice[]; delete: EndpointSlice[] },
): void {
  const left = new Map(desired);
  const contents = slices.map((slice) => {
    const stay: Endpoint[] = [];
    for (const { targetRef } of slice.endpoints ?? []) {
      const wanted = left.get(targetRef?.uid ?? "");
      if (!wanted) continue;
      stay.push(wanted);
      left.delete(targetRef?.uid ?? "");
    }
    return { slice, endpoints: stay };
  });
  const rest = [...left.values()];
  // The fullest slices first, so that few are touched.
  for (const { endpoints } of [...contents].sort((a, b) => b.endpoints.length - a.endpoints.length)) {
    endpoints.push(...rest.splice(0, mostEndpoints - endpoints.length));
  }
  while (rest.length > 0)
    changes.create.push({ addressType: family, ports, endpoints: rest.splice(0, mostEndpoints) });
  const used = contents.filter(({ endpoints }) => endpoints.length > 0);
  const emptyOnes = contents.filter(({ endpoints }) => endpoints.length === 0);
  if (desired.size === 0) {
    const placeholder = emptyOnes.shift();
    if (placeholder) used.push(placeholder);
    else changes.create.push({ addressType: family, ports, endpoints: [] });
  }
  changes.delete.push(...emptyOnes.map(({ slice }) => slice));
  const labels = sliceLabels(service);
  for (const { slice, endpoints } of used) {
    const isSame =
      canonicalText(slice.endpoints ?? []) === canonicalText(endpoints) &&
      canonicalText(slice.metadata.labels) === canonicalText(labels);
    if (!isSame) changes.replace.push({ ...slice, metadata: { ...slice.metadata, labels }, endpoints });
  }
}
