import type { Election } from "@tenure/election";

/** What a status server reports on: an `Election`, and the process that a supervisor runs for it. */
export interface StatusSource {
  readonly election: Pick<Election, "identity" | "leader" | "term" | "health" | "on">;
  /** @default derived from the term: `leader`, `pre-follower` while it ends, otherwise `follower` */
  readonly phase?: () => string;
  /** The current state of the leader's child process. @default there is no child */
  readonly child?: () => ChildSummary;
  /** The supervisor of the child, for metrics: a `Supervisor` of @tenure/supervisor fits. @default no metrics about a child */
  readonly supervisor?: SupervisorSource;
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

/** The part of a supervisor that metrics are derived from. */
export interface SupervisorSource {
  status(): { readonly watchdog: { readonly running: boolean; readonly pid?: number } };
  on(name: "child", listener: (event: ChildChange) => void): () => void;
  on(name: "health", listener: (event: { readonly failures: number }) => void): () => void;
}

/** An event about a child. Events of other types have other fields. */
export interface ChildChange {
  readonly type: string;
  /** For `started`: how often the child was restarted in this term. */
  readonly restarts?: number;
  /** For `exited`. */
  readonly exit?: { readonly code: number | undefined; readonly signal: string | undefined };
}

/**
 * - `always`: every replica is ready, so rollouts complete. Traffic follows a label or an EndpointSlice.
 * - `elected`: every replica that knows of a leader is ready, whoever leads. No replica is while nobody leads, nor a standby that
 *   has lost contact with the lock.
 * - `leader`: only the leader is ready. A RollingUpdate that waits until new pods are ready may then never complete.
 * - `child-ready`: only the leader is ready, and only while its child is.
 */
export type ReadyMode = "always" | "elected" | "leader" | "child-ready";
export const readyModes: readonly ReadyMode[] = ["always", "elected", "leader", "child-ready"];
