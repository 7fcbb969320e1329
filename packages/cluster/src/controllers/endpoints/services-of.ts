/** The Services that a change of a pod concerns. */
import { type Informer, keyOf } from "../../client/informer.ts";
import type { Pod, Service } from "../../client/objects.ts";
import { matchesSelector } from "../../client/selector.ts";
import { isSelecting } from "./members.ts";

/** @param versions the pod before and after the change: it leaves a Service when its labels change */
export function servicesOf(versions: readonly (Pod | undefined)[], services: Informer<Service>): Set<string> {
  const keys = new Set<string>();
  for (const pod of versions) {
    if (!pod) continue;
    for (const service of services.list(pod.metadata.namespace)) {
      const matchLabels = service.spec?.selector ?? {};
      if (isSelecting(service) && matchesSelector({ matchLabels }, pod.metadata.labels))
        keys.add(keyOf(service.metadata));
    }
  }
  return keys;
}
