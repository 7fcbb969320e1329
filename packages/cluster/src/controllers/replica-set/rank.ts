/** Which pods to delete first when there are too many. The order is that of Kubernetes. */

import type { Pod } from "../../client/objects.ts";
import { conditionOf, isReady } from "../../client/pods.ts";
import { parseTime } from "../../client/time.ts";

const deletionCost = "controller.kubernetes.io/pod-deletion-cost";
const phases = ["Pending", "Unknown", "Running"];

/** The pods in the order in which they are deleted. @param related pods of the same workload, to spread what remains */
export function rankForDeletion(pods: readonly Pod[], related: readonly Pod[], nowMs: number): Pod[] {
  const perNode = new Map<string, number>();
  for (const { spec } of related) {
    if (spec.nodeName) perNode.set(spec.nodeName, (perNode.get(spec.nodeName) ?? 0) + 1);
  }
  const rank = (pod: Pod) => perNode.get(pod.spec.nodeName ?? "") ?? 0;
  // Stable: pods that compare equal stay in the order of their names, whatever order the cache has.
  const byName = [...pods].sort((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1));
  return byName.sort((a, b) => compare(a, b, rank, nowMs));
}

/** Negative if `a` is deleted before `b`. */
function compare(a: Pod, b: Pod, rank: (pod: Pod) => number, nowMs: number): number {
  const order =
    // Unassigned before assigned.
    Number(!!a.spec.nodeName) - Number(!!b.spec.nodeName) ||
    // Pending, then unknown, then running.
    phases.indexOf(a.status?.phase ?? "Pending") - phases.indexOf(b.status?.phase ?? "Pending") ||
    // Not ready before ready.
    Number(isReady(a)) - Number(isReady(b)) ||
    // Lower cost first.
    costOf(a) - costOf(b) ||
    // More pods of the workload on the node first.
    rank(b) - rank(a);
  if (order !== 0) return order;
  // Ready for a shorter time first.
  if (isReady(a) && isReady(b)) {
    const ages = compareAges(readySince(a), readySince(b), nowMs);
    if (ages !== 0) return ages;
  }
  // More restarts first, then the newer pod.
  return (
    restartsOf(b) - restartsOf(a) ||
    compareAges(parseTime(a.metadata.creationTimestamp), parseTime(b.metadata.creationTimestamp), nowMs)
  );
}

/** Younger first. Ages count by powers of two, so that small differences do not matter. */
function compareAges(aMs: number, bMs: number, nowMs: number): number {
  if (aMs === bMs) return 0;
  if (aMs === 0 || bMs === 0) return aMs === 0 ? -1 : 1;
  return ageStep(aMs, nowMs) - ageStep(bMs, nowMs);
}

function ageStep(atMs: number, nowMs: number): number {
  const seconds = Math.max(nowMs - atMs, 0) / 1000;
  return seconds < 1 ? 0 : Math.floor(Math.log2(seconds)) + 1;
}

const readySince = (pod: Pod) => parseTime(conditionOf(pod, "Ready")?.lastTransitionTime);

function costOf({ metadata }: Pod): number {
  const cost = Number(metadata.annotations?.[deletionCost] ?? 0);
  return Number.isFinite(cost) ? cost : 0;
}

function restartsOf({ status }: Pod): number {
  return Math.max(0, ...(status?.containerStatuses ?? []).map(({ restartCount = 0 }) => restartCount));
}
