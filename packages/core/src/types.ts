/**
 * The words of the state machine: its configuration, state, events and effects.
 * The shell around it performs effects, feeds events, and owns every clock, socket and random number.
 */
import type { Instant } from "@tenure/base";
import type { LeaderRecord, LockView } from "./record.ts";
import type { Timings } from "./timings.ts";

export interface Config {
  readonly identity: string;
  readonly timings: Timings;
  /** Wait one leaseDuration where there is no lock: its deletion may be hiding a leader that this candidate never saw. */
  readonly waitWhenAbsent: boolean;
  /** Give up, rather than try again, when the API server says 401 or 403. */
  readonly failWhenDenied: boolean;
  /** How long this candidate keeps out after an operator told it to step down, for another one to win. */
  readonly cooldownMs: number;
}

/**
 * Why a term ended. The first three are on purpose, the others are losses. "overwritten": the lock still names this
 * candidate, but it was not this process that wrote it; a twin with the same identity did, or somebody's editor.
 */
export type EndReason =
  | "step-down"
  | "shutdown"
  | "work-ended"
  | "renew-deadline"
  | "taken-over"
  | "lock-deleted"
  | "overwritten";

export interface Term {
  /** The revision of the write that won this term: greater than any earlier term's (G2). */
  readonly token: bigint;
  /** When the last write that is known to be committed was sent. The right to work counts from here. */
  readonly sent: Instant;
  readonly acquireTime: string | undefined;
  readonly leaseTransitions: number;
}

export type Phase =
  | { readonly name: "idle" }
  | { readonly name: "campaigning"; readonly notBeforeMs: number; readonly staggerMs: number }
  | { readonly name: "leading"; readonly term: Term }
  /** The work has been asked to stop, on purpose; renewing goes on. */
  | {
      readonly name: "draining";
      readonly term: Term;
      readonly reason: EndReason;
      readonly cooldownMs: number;
    }
  /** The work has stopped and the lock is being given back. */
  | {
      readonly name: "releasing";
      readonly term: Term;
      readonly reason: EndReason;
      readonly cooldownMs: number;
      /** False when it was won while being asked to leave: a term that nobody was told of. */
      readonly wasStarted: boolean;
    }
  /** The right to work is gone or running out; nothing is written any more until the work has stopped. */
  | {
      readonly name: "lost";
      readonly term: Term;
      readonly reason: EndReason;
      readonly cooldownMs: number;
      /** False as soon as somebody else may be working, even before the hard deadline. */
      readonly valid: boolean;
      readonly overrun: boolean;
    };

export type Knowledge =
  | { readonly kind: "unknown" }
  | { readonly kind: "absent"; readonly sinceMs: number }
  /** `sinceMs`: when this candidate learned of this version; a holder's time is waited out from here. */
  | { readonly kind: "present"; readonly view: LockView; readonly sinceMs: number };

export type WritePurpose = "acquire" | "renew" | "release";

/** A write of this very process that may be in the lock, whether or not its answer came. */
export interface Attempt {
  readonly record: LeaderRecord;
  readonly purpose: WritePurpose;
  readonly sent: Instant;
  /**
   * The campaign it belongs to: an acquisition left over from an earlier one does not start a term, and neither does one
   * that was sent before something else was seen in the lock.
   */
  readonly campaign: number;
}

export interface InFlight {
  readonly id: number;
  readonly kind: "read" | WritePurpose;
  readonly timeoutAtMs: number;
  /** How much had been observed when it was sent: an "absent" that is older than what was seen since is not news. */
  readonly observations: number;
}

export interface State {
  readonly phase: Phase;
  readonly stopping: boolean;
  readonly lock: Knowledge;
  /** The highest revision seen; anything older is a late delivery. */
  readonly revision: bigint;
  readonly observations: number;
  /** The last sign of life of the connection to the lock: an answer or a watch event. */
  readonly heardAtMs: number;
  readonly watchUp: boolean;
  /** Until then the holder of a lock that was deleted or emptied by hand may still be working. */
  readonly vanishedHolderUntilMs: number;
  readonly attempts: readonly Attempt[];
  readonly campaign: number;
  readonly inFlight: InFlight | undefined;
  readonly nextId: number;
  /** Nothing is decided on what is known before the lock was read again. */
  readonly mustRead: boolean;
  readonly failures: number;
  readonly retryAtMs: number;
  /** How often a live process with this candidate's own identity was seen to renew. */
  readonly twinRenewals: number;
  readonly reportedLeader: string | undefined;
  /** By how much the wall clock was ahead of the monotonic one when this was last looked at. */
  readonly clockSkewMs: number | undefined;
}

export type Failure = {
  readonly kind: "unreachable" | "timeout" | "denied" | "throttled" | "server" | "unreadable";
  readonly message: string;
  readonly retryAfterMs?: number;
};

/** The answer to a read or a write. After `failed` a write may or may not have been committed. */
export type Answer =
  | { readonly kind: "found"; readonly view: LockView }
  | { readonly kind: "absent" }
  | { readonly kind: "conflict" }
  | { readonly kind: "failed"; readonly failure: Failure };

export type Event =
  | { readonly type: "start" }
  | { readonly type: "stop" }
  | { readonly type: "step-down"; readonly cooldownMs: number }
  /** Nothing of the term's work runs any more. */
  | { readonly type: "work-stopped"; readonly cooldownMs: number }
  | { readonly type: "answer"; readonly id: number; readonly answer: Answer }
  | { readonly type: "observed"; readonly view: LockView }
  | { readonly type: "deleted"; readonly revision: bigint }
  /** Something about the lock changed; what, is to be read. */
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
      /** What must still be there for the write to count; undefined: the lock must not exist. */
      readonly over: LockView | undefined;
      readonly record: LeaderRecord;
      readonly timeoutMs: number;
    }
  /** Nobody waits for this request any more; its connection is suspect. */
  | { readonly type: "cancel"; readonly id: number }
  | { readonly type: "term-started"; readonly token: bigint }
  | { readonly type: "renewed" }
  /** The work should stop, and has time: the term is ending on purpose and is still being renewed. */
  | { readonly type: "term-ending"; readonly reason: EndReason }
  /** The work must be gone by the hard deadline, or at once if the term is no longer valid. */
  | { readonly type: "term-lost"; readonly reason: EndReason }
  /** Nothing of the term may run any more: the hard deadline has come, or somebody else may be working already. */
  | { readonly type: "term-expired" }
  /** The hard deadline has come and the work has not stopped. */
  | { readonly type: "overrun" }
  | { readonly type: "term-ended"; readonly reason: EndReason; readonly released: boolean }
  | { readonly type: "leader-changed"; readonly leader: string | undefined }
  | { readonly type: "failed"; readonly during: InFlight["kind"]; readonly failure: Failure }
  /** This candidate will not campaign any more. */
  | { readonly type: "refused"; readonly reason: "duplicate-identity" | "denied"; readonly message: string }
  | { readonly type: "stopped" };
