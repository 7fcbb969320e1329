import type { Election } from "@tenure/election";

/** What a status server tells about. An `Election`, and what a supervisor of the work knows beyond it. */
export interface StatusSource {
  readonly election: Pick<Election, "identity" | "leader" | "term" | "health" | "on">;
  /** @default by the term: leader, pre-follower while it ends, follower */
  readonly phase?: () => string;
  /** The child process of the leader, as it stands. @default there is none */
  readonly child?: () => ChildState;
  /** Calls back when phase or child may have changed; the result ends it. @default only the election's events are told */
  readonly onChange?: (listener: () => void) => () => void;
  /** Hands over on purpose. @default POST /step-down is refused */
  readonly stepDown?: () => void;
}

/** Whatever else it has is told too. */
export interface ChildState {
  readonly ready: boolean;
  readonly restarts?: number;
}

/**
 * - `always`: a standby is ready too, so that rollouts go on; traffic follows a label or an EndpointSlice.
 * - `leader`: only the leader is. With a RollingUpdate that waits for new pods to become ready, it may wait for ever.
 * - `child-ready`: only the leader is, when its child is.
 */
export type ReadyMode = "always" | "leader" | "child-ready";
export const readyModes: readonly ReadyMode[] = ["always", "leader", "child-ready"];
