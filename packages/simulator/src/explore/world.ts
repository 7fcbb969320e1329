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
   * How often something may be put off to the next tick: a timer that is due, a request, an answer or a watch event. What a
   * frozen process puts off does not count.
   */
  readonly delays: number;
  /** How many faults of each kind may happen in one history. */
  readonly faults: Readonly<Record<FaultKind, number>>;
}

export const faultKinds = [
  "lose",
  "crash",
  "freeze",
  "delete",
  "annotate",
  "empty",
  "pause",
  "stop",
  "step-down",
  "clock-step",
] as const;
export type FaultKind = (typeof faultKinds)[number];

export const noFaults = Object.fromEntries(faultKinds.map((kind) => [kind, 0])) as Record<FaultKind, number>;

/** How many writes of one process may be on their way to the server at once. */
export const mostWrites = 2;

/** Half of a lease. A lease of one second would do, but a holder that is emptied by hand would look like one that released it. */
export const tickMs = 1_000;
export const leaseMs = 2_000;

const timings = resolveTimings({
  leaseDuration: "2s",
  renewDeadline: "1600ms",
  retryPeriod: "500ms",
  renewInterval: "500ms",
});

/** The wall clock of every machine when time begins. */
export const epochMs = Date.UTC(2030, 0, 1);

/** How far a clock step moves the wall clock forward: more than a lease, as a suspended machine would. */
export const clockStepMs = 4_000;

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
  /** Until then it does nothing, and nothing reaches it. */
  readonly frozenUntilMs: number;
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

/**
 * The random number of every event. With zero, a candidate takes the lock at the first moment it may: any later would fall on the
 * next tick and hide overlaps that are shorter than a tick. Two candidates never write the same record, because each record
 * names its writer.
 */
export const random = 0;
