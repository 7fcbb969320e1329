/** When the machine has to look at a pod again, if no event comes before. */
import { type PodState, probeKinds } from "./types.ts";

/** A time on the monotonic clock; Infinity if nothing is due. */
export function nextWakeMs(state: PodState): number {
  if (state.isOver) return Number.POSITIVE_INFINITY;
  const times: number[] = [];
  if (state.setup === "failed") times.push(state.setupRetryMs ?? 0);
  const { activeDeadlineSeconds } = state.pod.spec;
  if (activeDeadlineSeconds !== undefined && !state.ending)
    times.push(state.since.monoMs + activeDeadlineSeconds * 1000);
  for (const { run } of state.containers) {
    if ((run.type === "waiting" || run.type === "ended") && run.retryMs !== undefined && !state.ending)
      times.push(run.retryMs);
    if (run.type !== "running") continue;
    if (run.stopping?.isHookRunning) times.push(run.stopping.deadlineMs);
    for (const kind of probeKinds) {
      const probe = run.probes[kind];
      if (probe && !probe.isInFlight) times.push(probe.dueMs);
    }
  }
  return Math.min(...times, Number.POSITIVE_INFINITY);
}
