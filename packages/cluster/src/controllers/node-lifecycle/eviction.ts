/** When pods leave a node that repels them. */
import type { Pod, Taint } from "../../client/objects.ts";
import { parseTime } from "../../client/time.ts";
import { tolerates } from "../../scheduler/taints.ts";

/**
 * How long until the pod is evicted: 0 for now, undefined for never. Every taint must be tolerated; the shortest time that a
 * toleration allows counts from when the taint was added.
 */
export function evictedInMs({ spec }: Pod, taints: readonly Taint[], nowMs: number): number | undefined {
  let soonest: number | undefined;
  for (const taint of taints.filter(({ effect }) => effect === "NoExecute")) {
    const matching = (spec.tolerations ?? []).filter((toleration) => tolerates(toleration, taint));
    if (matching.length === 0) return 0;
    const limits = matching.flatMap(({ tolerationSeconds }) => tolerationSeconds ?? []);
    if (limits.length === 0) continue;
    const sinceMs = taint.timeAdded === undefined ? nowMs : parseTime(taint.timeAdded);
    const inMs = Math.max(sinceMs + Math.max(Math.min(...limits), 0) * 1000 - nowMs, 0);
    soonest = Math.min(soonest ?? inMs, inMs);
  }
  return soonest;
}
