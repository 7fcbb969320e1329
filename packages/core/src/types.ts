/**
 * The types of the state machine: its configuration, state, events and effects.
 * The caller performs the effects, sends the events, and owns every clock, socket and random number.
 */
import type { Instant } from "@tenure/base";
import type { LeaderRecord, LockView } from "./record.ts";
import type { Timings } from "./timings.ts";

export interface Config {
  readonly identity: string;
  readonly timings: Timings;
  /** Wait one leaseDuration if the lock does not exist: somebody may have deleted it while an unseen leader held it. */
  readonly waitWhenAbsent: boolean;
  /** Stop campaigning, instead of retrying, when the API server responds with 401 or 403. */
  readonly failWhenDenied: boolean;
  /** How long this candidate does not campaign after an operator orders it to step down, so that another can win. */
  readonly cooldownMs: number;
  /** How long the work may take to stop when its term ends on purpose. After that the term is lost. @default no limit */
  readonly drainTimeoutMs?: number;
  /**
   * Extra wait before this candidate acquires a free lock, so that candidates with a higher priority win. Infinity: it never
   * acquires the lock, unless an operator transfers leadership to it. @default 0
   */
  readonly acquireDelayMs?: number;
  /**
   * The API server chooses the leader: this candidate acquires the lock only after the server has named it in the lock.
   * @default false
   */
  readonly coordinated?: boolean;
}

/**
 * Why a term ended. The first three are intended, the others are losses. "stop-timeout": the term was ending on purpose, but
 * its work did not stop in time. "overwritten": the lock still names this
 * candidate, but this process did not write the record. Either another process has the same identity, or a person edited
 * the lock.
 */
export type EndReason =
  | "step-down"
  | "shutdown"
  | "work-ended"
  | "renew-deadline"
  | "taken-over"
  | "lock-deleted"
  | "overwritten"
  | "stop-timeout";

export interface Term {
  /** The revision of the write that won this term. It is greater than the token of any earlier term (G2). */
  readonly token: bigint;
  /** When the last write that is known to be committed was sent. All deadlines of the term count from here. */
  readonly sent: Instant;
  readonly acquireTime: string | undefined;
  readonly leaseTransitions: number;
}

export type Phase =
  | { readonly name: "idle" }
  | { readonly name: "campaigning"; readonly notBeforeMs: number; readonly staggerMs: number }
  | { readonly name: "leading"; readonly term: Term }
  /** The term is ending on purpose and its work was told to stop. The lease is still renewed. */
  | {
      readonly name: "draining";
      readonly term: Term;
      readonly reason: EndReason;
      readonly cooldownMs: number;
      /** When the work has used up its time to stop, in monotonic milliseconds. Infinity: never. */
      readonly untilMs: number;
    }
  /** The work has stopped and the lock is being released. */
  | {
      readonly name: "releasing";
      readonly term: Term;
      readonly reason: EndReason;
      readonly cooldownMs: number;
      /** False if the lock was won after "stop": the caller was never told about this term. */
      readonly wasStarted: boolean;
    }
  /** The term is lost. Nothing is written until its work has stopped. */
  | {
      readonly name: "lost";
      readonly term: Term;
      readonly reason: EndReason;
      readonly cooldownMs: number;
      /** Whether the work may use the time until the hard deadline to stop. False once another leader may be working. */
      readonly valid: boolean;
      /** The hard deadline has passed and the work is still running. */
      readonly overrun: boolean;
    };

/** The latest known state of the lock. */
export type ObservedLock =
  | { readonly kind: "unknown" }
  | { readonly kind: "absent"; readonly sinceMs: number }
  /** `sinceMs`: when this candidate learned of this version. It waits out the holder's lease from here. */
  | { readonly kind: "present"; readonly view: LockView; readonly sinceMs: number };

export type WritePurpose = "acquire" | "renew" | "release";

export type RequestKind = "read" | "accept" | WritePurpose;

/** A write that this process sent. It may be in the lock even if no answer arrived. */
export interface OwnWrite {
  readonly record: LeaderRecord;
  readonly purpose: WritePurpose;
  readonly sent: Instant;
  /**
   * The value of `State.campaign` when it was sent. An acquisition starts a term only if the campaign is still the same:
   * not after an earlier campaign, and not if this candidate saw something else in the lock after sending it.
   */
  readonly campaign: number;
}

export interface InFlight {
  readonly id: number;
  readonly kind: RequestKind;
  readonly timeoutAtMs: number;
  /** The value of `State.observations` when it was sent. If that has grown since, an "absent" answer may be outdated. */
  readonly observations: number;
}

export interface State {
  readonly phase: Phase;
  readonly stopping: boolean;
  readonly lock: ObservedLock;
  /** The highest revision seen. Anything older was delivered late. */
  readonly revision: bigint;
  /** Counts the changes of the lock that this candidate learned of. */
  readonly observations: number;
  /** When the last answer or watch event arrived. */
  readonly lastContactMs: number;
  readonly watchUp: boolean;
  /** Until then, the last holder of a lock that was deleted, replaced or rolled back may still be working. */
  readonly vanishedHolderUntilMs: number;
  readonly ownWrites: readonly OwnWrite[];
  /** Grows when a campaign starts, and when the lock is seen to be absent or to hold a record of another process. */
  readonly campaign: number;
  readonly inFlight: InFlight | undefined;
  readonly nextId: number;
  /** The lock must be read before anything is decided by its last known state. */
  readonly mustRead: boolean;
  /** Failed requests and conflicts in a row, for the back-off. */
  readonly failures: number;
  readonly retryAtMs: number;
  /** How many renewals by another process with this candidate's identity were seen. */
  readonly duplicateRenewals: number;
  /** The longest lease that was ever seen in the lock. */
  readonly longestLeaseMs: number;
  readonly reportedLeader: string | undefined;
  /** The wall clock minus the monotonic clock, at the first step or at the last jump of the wall clock. */
  readonly clockOffsetMs: number | undefined;
}

export type Failure = {
  readonly kind: "unreachable" | "timeout" | "denied" | "throttled" | "server" | "unreadable";
  readonly message: string;
  readonly retryAfterMs?: number;
};

/** The answer to a read or a write. After `failed`, a write may or may not have been committed. */
export type Answer =
  | { readonly kind: "found"; readonly view: LockView }
  | { readonly kind: "absent" }
  | { readonly kind: "conflict" }
  | { readonly kind: "failed"; readonly failure: Failure };

export type Event =
  | { readonly type: "start" }
  | { readonly type: "stop" }
  /** Ends the term on purpose. "work-ended": a part of the work has ended, and the rest has to stop. @default "step-down" */
  | {
      readonly type: "step-down";
      readonly cooldownMs: number;
      readonly reason?: "step-down" | "work-ended";
    }
  /** All work of the term has stopped. */
  | { readonly type: "work-stopped"; readonly cooldownMs: number }
  | { readonly type: "answer"; readonly id: number; readonly answer: Answer }
  | { readonly type: "observed"; readonly view: LockView }
  | { readonly type: "deleted"; readonly revision: bigint }
  /** The lock changed in an unknown way. Only a read shows how. */
  | { readonly type: "changed" }
  | { readonly type: "watch-up" }
  | { readonly type: "watch-down" }
  | { readonly type: "tick" };

export type Effect =
  | { readonly type: "read"; readonly id: number; readonly timeoutMs: number }
  | {
      readonly type: "write";
      readonly id: number;
      readonly purpose: WritePurpose;
      /** The version that the write replaces; it fails on any other. undefined: the write creates the lock. */
      readonly over: LockView | undefined;
      readonly record: LeaderRecord;
      readonly timeoutMs: number;
    }
  /**
   * Marks the transfer in `over` as accepted, with a compare-and-swap that leaves the record as it is. So it neither renews nor
   * ends anybody's lease.
   */
  | { readonly type: "accept"; readonly id: number; readonly over: LockView; readonly timeoutMs: number }
  /** The answer to this request is no longer needed. Its connection may be broken. */
  | { readonly type: "cancel"; readonly id: number }
  | { readonly type: "term-started"; readonly token: bigint }
  | { readonly type: "renewed" }
  /** The work should stop and may take its time: the term ends on purpose and is still renewed. */
  | { readonly type: "term-ending"; readonly reason: EndReason }
  /** The work must stop before the hard deadline, or at once if "term-expired" follows. */
  | { readonly type: "term-lost"; readonly reason: EndReason }
  /** No work of the term may run any more: the hard deadline has passed, or another leader may already be working. */
  | { readonly type: "term-expired" }
  /** The hard deadline has passed and the work has not stopped. */
  | { readonly type: "overrun" }
  | { readonly type: "term-ended"; readonly reason: EndReason; readonly released: boolean }
  | { readonly type: "leader-changed"; readonly leader: string | undefined }
  | { readonly type: "failed"; readonly during: RequestKind; readonly failure: Failure }
  /** This candidate stops campaigning because of an error. */
  | { readonly type: "refused"; readonly reason: "duplicate-identity" | "denied"; readonly message: string }
  | { readonly type: "stopped" };
