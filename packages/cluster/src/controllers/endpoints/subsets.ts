/** The subsets of an Endpoints object. */
import type { EndpointAddress, EndpointPort, EndpointSubset } from "../../client/endpoint-objects.ts";
import type { Pod, Service } from "../../client/objects.ts";
import { isReady, isTerminating } from "../../client/pods.ts";
import { canonicalText } from "../names.ts";
import { addressOf, familiesOf, hostnameOf, membersOf, portsOf } from "./members.ts";

/** Pods with the same ports share a subset. A pod that is stopping is in none. */
export function subsetsOf(service: Service, pods: readonly Pod[]): EndpointSubset[] {
  const [family = "IPv4"] = familiesOf(service);
  const groups = new Map<
    string,
    { ports: EndpointPort[]; ready: EndpointAddress[]; notReady: EndpointAddress[] }
  >();
  for (const pod of membersOf(service, pods)) {
    const ip = addressOf(pod, family);
    const ports = portsOf(service, pod);
    const hasNoPort = ports.length === 0 && (service.spec?.ports?.length ?? 0) > 0;
    if (ip === undefined || hasNoPort || isTerminating(pod)) continue;
    const key = canonicalText(ports);
    const group = groups.get(key) ?? { ports, ready: [], notReady: [] };
    const isUsable = isReady(pod) || service.spec?.publishNotReadyAddresses === true;
    (isUsable ? group.ready : group.notReady).push(addressFor(service, pod, ip));
    groups.set(key, group);
  }
  return [...groups]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([, { ports, ready, notReady }]) => ({
      ...(ready.length > 0 ? { addresses: sorted(ready) } : {}),
      ...(notReady.length > 0 ? { notReadyAddresses: sorted(notReady) } : {}),
      ...(ports.length > 0 ? { ports: ports.map(withoutEmptyName) } : {}),
    }));
}

function addressFor(service: Service, pod: Pod, ip: string): EndpointAddress {
  const { name, namespace, uid } = pod.metadata;
  const hostname = hostnameOf(pod, service);
  return {
    ip,
    ...(hostname ? { hostname } : {}),
    ...(pod.spec.nodeName ? { nodeName: pod.spec.nodeName } : {}),
    targetRef: { kind: "Pod", ...(namespace ? { namespace } : {}), name, uid },
  };
}

/** An Endpoints object leaves out the name of a single port without a name. */
function withoutEmptyName({ name, ...port }: EndpointPort): EndpointPort {
  return name ? { name, ...port } : port;
}

function sorted(addresses: readonly EndpointAddress[]): EndpointAddress[] {
  return [...addresses].sort((a, b) =>
    `${a.ip} ${a.targetRef?.uid}` < `${b.ip} ${b.targetRef?.uid}` ? -1 : 1,
  );
}
