/** The fields of a pod that its containers can read: the downward API. */
import type { NodePod } from "../pod.ts";

/** What only the node knows about a pod. */
export interface PodPlace {
  readonly nodeName: string;
  /** The addresses as the pod itself can use them. */
  readonly podIP: string;
  readonly hostIP: string;
}

/** The value of a field such as `metadata.labels['app']`. Undefined if there is no such field. */
export function fieldValue(pod: NodePod, fieldPath: string, place: PodPlace): string | undefined {
  const { metadata, spec } = pod;
  const [, map, key] = /^metadata\.(labels|annotations)\['(.+)'\]$/.exec(fieldPath) ?? [];
  if (map !== undefined && key !== undefined) return metadata[map as "labels" | "annotations"]?.[key] ?? "";
  switch (fieldPath) {
    case "metadata.name":
      return metadata.name;
    case "metadata.namespace":
      return metadata.namespace ?? "";
    case "metadata.uid":
      return metadata.uid;
    case "metadata.labels":
      return formatMap(metadata.labels);
    case "metadata.annotations":
      return formatMap(metadata.annotations);
    case "spec.nodeName":
      return place.nodeName;
    case "spec.serviceAccountName":
      return spec.serviceAccountName ?? "default";
    case "status.podIP":
    case "status.podIPs":
      return place.podIP;
    case "status.hostIP":
    case "status.hostIPs":
      return place.hostIP;
    default:
      return undefined;
  }
}

/** One line for each entry: key="value". */
function formatMap(map: Readonly<Record<string, string>> = {}): string {
  return Object.keys(map)
    .sort()
    .map((key) => `${key}=${JSON.stringify(map[key])}`)
    .join("\n");
}
