/** Questions about pods that several components ask. */
import type { Condition, Pod, PodStatus } from "./objects.ts";
import { parseTime } from "./time.ts";

export function conditionOf(
  object: { readonly status?: { readonly conditions?: readonly Condition[] } },
  type: string,
): Condition | undefined {
  return object.status?.conditions?.find((condition) => condition.type === type);
}

export function isReady(pod: Pod): boolean {
  return conditionOf(pod, "Ready")?.status === "True";
}

/** Whether the pod will never run again. */
export function isFinished({ status }: { readonly status?: PodStatus }): boolean {
  return status?.phase === "Succeeded" || status?.phase === "Failed";
}

export function isTerminating({ metadata }: Pod): boolean {
  return metadata.deletionTimestamp !== undefined;
}

/** Whether the pod counts as a replica. */
export function isActive(pod: Pod): boolean {
  return !isFinished(pod) && !isTerminating(pod);
}

/** How long until the pod is available: 0 if it is, undefined if it is not even ready. */
export function availableInMs(pod: Pod, minReadySeconds: number, nowMs: number): number | undefined {
  if (!isReady(pod)) return undefined;
  if (minReadySeconds === 0) return 0;
  const since = conditionOf(pod, "Ready")?.lastTransitionTime;
  if (since === undefined) return undefined;
  return Math.max(parseTime(since) + minReadySeconds * 1000 - nowMs, 0);
}

export function isAvailable(pod: Pod, minReadySeconds: number, nowMs: number): boolean {
  return availableInMs(pod, minReadySeconds, nowMs) === 0;
}
