/** The parts of a small world: its candidates, its lock and what is on its way between them. */
import {
  type Config,
  type Event,
  type LeaderRecord,
  type LockView,
  resolveTimings,
  type State,
} from "@tenure/core";

/** What the search may use, and how often. Every number makes the scope larger. */
export interface Scope {
  readonly candidates: number;
  /**
   * How often something may be put off to the next tick: a timer that is due, a request, an answer or a watch event. A
   * process that is frozen for a while, or cut off, uses several.
   */
  readonly delays: number;
  /** How many faults of each kind may happen in one history. */
  readonly faults: Readonly<Record<FaultKind, number>>;
}

export const faultKinds = ["lose", "crash", "delete", "annotate", "stop", "step-down", "clock-step"] as const;
export type FaultKind = (typeof faultKinds)[number];

/** How many writes of one process may be on their way to the server at once. */
export const mostWrites = 2;

/** Half of the shortest lease that Kubernetes can store. */
export const tickMs = 500;
export const leaseMs = 1_000;

const timings = resolveTimings({
  leaseDuration: "1s",
  renewDeadline: "800ms",
  retryPeriod: "250ms",
  renewInterval: "250ms",
});

/** The wall clock of every machine when time begins. */
export const epochMs = Date.UTC(2030, 0, 1);

/** How far a clock step moves the wall clock forward: more than a lease, as a suspended machine would. */
export const clockStepMs = 2_000;

export interface Request {
  readonly id: number;
  readonly over: LockView | undefined;
  /** Absent for a read. */
  readonly record: LeaderRecord | undefined;
}

export interface Answer {
  readonly id: number;
  readonly answer: Extract<Event, { type: "answer" }>["answer"];
}

/** One live process. A crash replaces it with a new one that has the same identity. */
export interface Process {
  readonly state: State;
  readonly requests: readonly Request[];
  readonly answers: readonly Answer[];
  readonly watchEvents: readonly Event[];
  /** Whether the work of a term runs. */
  readonly works: boolean;
  /** Whether the work was asked to stop. */
  readonly isStopping: boolean;
  /** How far its wall clock was set forward. */
  readonly wallAheadMs: number;
}

export interface World {
  readonly nowMs: number;
  readonly processes: readonly Process[];
  readonly lock: LockView | undefined;
  readonly revision: number;
  readonly uids: number;
  readonly used: Readonly<Record<FaultKind, number>>;
  /** The token of the last term that started. */
  readonly lastToken: number;
  /** The processes that had not seen the lock that was deleted last. They cannot know that it had a holder. */
  readonly unaware: readonly number[];
  readonly delays: number;
}

export interface Action {
  readonly name: string;
  readonly apply: (world: World) => World;
}

/**
 * A process creates a lock that was deleted without its knowledge. That may lead to two leaders, as docs/guarantees.md says,
 * and is not searched any further.
 */
export class OutOfScope extends Error {
  override readonly name = "OutOfScope";
}

/** A broken guarantee. */
export class Violation extends Error {
  override readonly name = "Violation";
}

export const configs: readonly Config[] = ["a", "b", "c"].map((identity) => ({
  identity,
  timings,
  // A candidate that starts after a deletion cannot know that there was a holder. With this option it waits.
  waitWhenAbsent: true,
  failWhenDenied: false,
  cooldownMs: tickMs,
}));

/** One number for each candidate, so that two candidates never write the same record. */
export const randoms = [0.25, 0.5, 0.75];
