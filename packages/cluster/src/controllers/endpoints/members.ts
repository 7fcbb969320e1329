/** Which pods belong to a Service, and how they are reached. */
import type { EndpointPort } from "../../client/endpoint-objects.ts";
import type { Pod, Service, ServicePort } from "../../client/objects.ts";
import { isFinished } from "../../client/pods.ts";
import { matchesSelector } from "../../client/selector.ts";

export type Family = "IPv4" | "IPv6";

/** Whether controllers keep the endpoints of the Service. Without a selector, somebody else does. */
export function isSelecting({ spec }: Service): boolean {
  return (
    spec?.selector !== undefined && Object.keys(spec.selector).length > 0 && spec.type !== "ExternalName"
  );
}

export const isHeadless = ({ spec }: Service) => spec?.clusterIP === "None";

/** The families of the Service's addresses. The first is the primary one. */
export function familiesOf({ spec }: Service): Family[] {
  const families = (spec?.ipFamilies ?? []).filter(
    (family): family is Family => family === "IPv4" || family === "IPv6",
  );
  return families.length > 0 ? families : ["IPv4"];
}

/** The pods of the Service that have an address, also those that are stopping. */
export function membersOf(service: Service, pods: readonly Pod[]): Pod[] {
  const selector = { matchLabels: service.spec?.selector ?? {} };
  return pods.filter(
    (pod) =>
      pod.metadata.namespace === service.metadata.namespace &&
      matchesSelector(selector, pod.metadata.labels) &&
      !isFinished(pod) &&
      (pod.status?.podIP ?? "") !== "",
  );
}

export function addressOf({ status }: Pod, family: Family): string | undefined {
  const all = status?.podIPs?.length ? status.podIPs.map(({ ip }) => ip) : [status?.podIP ?? ""];
  return all.find((ip) => ip !== "" && ip.includes(":") === (family === "IPv6"));
}

/** The ports of the Service on this pod. A port whose name the pod does not have is left out. */
export function portsOf({ spec }: Service, pod: Pod): EndpointPort[] {
  return (spec?.ports ?? []).flatMap((servicePort): EndpointPort[] => {
    const port = targetOf(servicePort, pod);
    if (port === undefined) return [];
    const { name = "", protocol = "TCP", appProtocol } = servicePort;
    return [{ name, port, protocol, ...(appProtocol ? { appProtocol } : {}) }];
  });
}

function targetOf({ targetPort, port, protocol = "TCP" }: ServicePort, { spec }: Pod): number | undefined {
  if (targetPort === undefined || targetPort === 0 || targetPort === "") return port;
  if (typeof targetPort === "number") return targetPort;
  const sidecars = (spec.initContainers ?? []).filter(({ restartPolicy }) => restartPolicy === "Always");
  return [...spec.containers, ...sidecars]
    .flatMap(({ ports = [] }) => ports)
    .find((candidate) => candidate.name === targetPort && (candidate.protocol ?? "TCP") === protocol)
    ?.containerPort;
}

/** The name of the pod in DNS, if it is part of this Service's domain. */
export function hostnameOf({ spec }: Pod, { metadata }: Service): string | undefined {
  return spec.hostname && spec.subdomain === metadata.name ? spec.hostname : undefined;
}
