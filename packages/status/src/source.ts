import type { Election } from "@tenure/election";

/** What a status server reports on: an `Election`, and the process that a supervisor runs for it. */
export interface StatusSource {
  readonly election: Pick<Election, "identity" | "leader" | "term" | "health" | "on">;
  /** @default derived from the term: `leader`, `pre-follower` while it ends, otherwise `follower` */
  readonly phase?: () => string;
  /** The current state of the leader's child process. @default there is no child */
  readonly child?: () => ChildSummary;
  /** Calls back when phase or child may have changed. The returned function removes the listener. @default only events of the election */
  readonly onChange?: (listener: () => void) => () => void;
  /** Starts a handover. @default POST /step-down is rejected */
  readonly stepDown?: () => void;
}

/** The status contains these fields and all other fields that the object has. */
export interface ChildSummary {
  readonly ready: boolean;
  readonly restarts?: number;
}

/**
 * - `always`: every replica is ready, so rollouts complete. Traffic follows a label or an EndpointSlice.
 * - `leader`: only the leader is ready. A RollingUpdate that waits until new pods are ready may then never complete.
 * - `child-ready`: only the leader is ready, and only while its child is.
 */
export type ReadyMode = "always" | "leader" | "child-ready";
export const readyModes: readonly ReadyMode[] = ["always", "leader", "child-ready"];
