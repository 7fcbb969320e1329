/**
 * The end of a pod: it was deleted, its work is complete, or its deadline passed. The containers are stopped first, then the
 * sidecars one by one in reverse order, so that a sidecar serves the containers until their end.
 */
import type { Draft } from "./draft.ts";
import { stopContainer } from "./stopping.ts";
import type { ContainerState, Ending } from "./types.ts";

/** A pod that was deleted without any grace period still gets this long, as in the kubelet. */
const leastGraceSeconds = 1;

export function beginEnding(draft: Draft, why: Ending["why"], graceSeconds: number): void {
  const deadlineMs = draft.now.monoMs + Math.max(graceSeconds, leastGraceSeconds) * 1000;
  const { ending } = draft.state;
  if (!ending) draft.set({ ending: { why, deadlineMs } });
  // A second deletion can shorten the grace period.
  else if (deadlineMs < ending.deadlineMs || (why === "deleted" && ending.why !== "deleted"))
    draft.set({
      ending: {
        why: ending.why === "deadline" ? "deadline" : why,
        deadlineMs: Math.min(deadlineMs, ending.deadlineMs),
      },
    });
}

export function settleEnding(draft: Draft): void {
  const { ending, containers, isOver, cleanup, pod, isRemoved, setup } = draft.state;
  if (!ending) return;
  if (!isOver) {
    const plain = containers.filter(({ role }) => role !== "sidecar");
    for (const { name } of plain) stopContainer(draft, name, ending.deadlineMs);
    const live = (list: readonly ContainerState[]) => list.filter(({ run }) => isLive(run.type));
    if (live(plain).length === 0) {
      const next = live(containers).at(-1);
      if (next) stopContainer(draft, next.name, ending.deadlineMs);
    } else if (draft.now.monoMs >= ending.deadlineMs) {
      for (const { name } of containers) stopContainer(draft, name, ending.deadlineMs);
    }
    // What is being set up must not be removed at the same time.
    if (live(containers).length > 0 || setup === "running") return;
    draft.set({ isOver: true });
  }
  if (cleanup === "none") {
    draft.set({ cleanup: "running" });
    draft.emit({ type: "clean-up" });
  }
  if (draft.state.cleanup === "done" && pod.metadata.deletionTimestamp !== undefined && !isRemoved) {
    draft.set({ isRemoved: true });
    draft.emit({ type: "remove" });
  }
}

export function isLive(type: ContainerState["run"]["type"]): boolean {
  return type === "starting" || type === "running";
}
