/** Ends the run of a replica that has not become the leader in time. */
import { after, type Clock, onAbort } from "@tenure/base";
import type { Supervisor } from "@tenure/supervisor";

export interface WaitLimit {
  /** Aborts when the time is up, and when `shutdown` does. */
  readonly signal: AbortSignal;
  /** Whether the time passed without leadership. */
  isOver(): boolean;
  dispose(): void;
}

/** @param limitMs undefined for no limit */
export function limitWait(
  supervisor: Pick<Supervisor, "on">,
  limitMs: number | undefined,
  shutdown: AbortSignal,
  clock: Clock,
): WaitLimit {
  if (limitMs === undefined) return { signal: shutdown, isOver: () => false, dispose: () => {} };
  const controller = new AbortController();
  let isOver = false;
  const cancel = after(clock, limitMs, () => {
    isOver = true;
    controller.abort();
  });
  const stops = [
    cancel,
    supervisor.on("phase", ({ phase }) => {
      if (phase === "pre-leader") cancel();
    }),
    onAbort(shutdown, () => {
      cancel();
      controller.abort(shutdown.reason);
    }),
  ];
  if (shutdown.aborted) controller.abort(shutdown.reason);
  return {
    signal: controller.signal,
    isOver: () => isOver,
    dispose() {
      for (const stop of stops) stop();
    },
  };
}
