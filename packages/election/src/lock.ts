/**
 * The interface between an election and the place that stores its record. The guarantees of an election depend on three
 * properties of a lock, which test/conformance/locks.test.ts checks:
 *
 * 1. A write is compare-and-swap: it changes the lock only if the lock is still exactly as it was read.
 * 2. A revision grows with every change, even if the lock is deleted and created again, and orders all changes.
 * 3. A write keeps everything that the lock did not write itself: fields, labels, annotations.
 */
import type { Answer, Failure, LeaderRecord, LockView, Standing } from "@tenure/core";

/** What a watch calls. */
export interface LockObserver {
  /** The lock exists and has this content. The same content may be reported more than once. */
  observed(view: LockView): void;
  /** The lock was deleted by the change with this revision. */
  deleted(revision: bigint): void;
  /** The lock changed, and only a read can tell how. */
  changed(): void;
  /** From now on every change is reported. Earlier changes are reported too, or seen by the next read. */
  up(): void;
  /** From now on changes may be missed. @param failure the reason, if it should be reported */
  down(failure: Failure | undefined): void;
}

/** How to construct the same lock in another thread. */
export type LockSpec =
  | { readonly kind: "lease" | "configmap" | "endpoints"; readonly options: object }
  | { readonly kind: "migration"; readonly from: LockSpec; readonly to: LockSpec };

/** A candidate as operators see it. */
export interface ShownCandidate {
  /** The identity of the candidate. */
  readonly identity: string;
  /** What it is doing, and why it does not lead. */
  readonly standing: Standing;
  /** The time by its clock. */
  readonly renewMs: number;
}

/**
 * Shows to operators which candidates take part. It is no part of the lock: no candidate reads it, and its requests may fail or
 * hang without any effect on who leads. No method rejects: each resolves with why it failed.
 */
export interface CandidateRegistry {
  /** Shows this candidate, or that it is still there. */
  publish(candidate: ShownCandidate, signal: AbortSignal): Promise<Failure | undefined>;
  /** Removes a candidate that stops. */
  withdraw(identity: string, signal: AbortSignal): Promise<Failure | undefined>;
  /** Removes candidates that have been silent for long. @param nowMs the time by the clock of this candidate */
  sweep(nowMs: number, signal: AbortSignal): Promise<Failure | undefined>;
}

/** A candidate of a coordinated election, as the API server sees it. */
export interface CoordinatedCandidate {
  /** The identity of the candidate, which is the name of its LeaseCandidate. */
  readonly identity: string;
  /** The version of the program. */
  readonly version: string;
  /** The version whose behaviour the program has. */
  readonly emulationVersion: string;
  /** How the API server chooses. */
  readonly strategy: string;
  /** When the candidate was last alive, as it is written: by its own clock, or later if the API server's clock is ahead. */
  readonly renewMs: number;
}

/** What the watch of a candidate calls. */
export interface CoordinationObserver {
  /** When the API server last asked whether the candidate is alive. The same time may be reported more than once. */
  observed(pingTime: string | undefined): void;
  /** The API server does not know the candidate any more. */
  deleted(): void;
  /** Questions may be missed, until the watch works again by itself. */
  failed(failure: Failure): void;
}

/** How a candidate takes part in an election in which the API server chooses the leader. */
export interface Coordination {
  /** Whether the API server supports it. Rejects if that cannot be found out. */
  isServed(signal: AbortSignal): Promise<boolean>;
  /** Takes part, or shows that the candidate is still alive. Never rejects. */
  renew(candidate: CoordinatedCandidate, signal: AbortSignal): Promise<Failure | undefined>;
  /** Takes part no longer. Never rejects. */
  remove(identity: string, signal: AbortSignal): Promise<Failure | undefined>;
  /** Reports what the API server asks this candidate, until the signal aborts. */
  watch(identity: string, observer: CoordinationObserver, signal: AbortSignal): void;
}

/** Where an election stores its record. The locks of this package implement it; so can a lock of your own. */
export interface Lock {
  /** For messages: `lease default/my-service`. */
  readonly description: string;
  /** How to construct this lock in another thread; undefined if that is not possible. */
  readonly spec?: LockSpec | undefined;
  /** The address of the store, e.g. of the API server; undefined if it is not known. Called after `prepare`. */
  serverAddress?(): Promise<string | undefined>;
  /** Called before the requests of each run. Rejects if the lock cannot work until a person fixes something. */
  prepare?(): Promise<void>;
  /**
   * Reads the lock. Never rejects: a failure is an answer too.
   * @param signal aborts the request; it may serve later requests as well, so no listener may be left on it
   * @param timeoutMs how long the caller waits before it aborts `signal`; a limit of the lock's own must not be shorter
   */
  read(signal: AbortSignal, timeoutMs?: number): Promise<Answer>;
  /** Writes the record over `over`, or creates the lock if `over` is undefined. Never rejects. `timeoutMs`: see `read`. */
  write(
    record: LeaderRecord,
    over: LockView | undefined,
    signal: AbortSignal,
    timeoutMs?: number,
  ): Promise<Answer>;
  /**
   * Marks the transfer in `over.orders` as accepted, if the lock is still exactly `over`, and leaves the record as it is. Never
   * rejects. `timeoutMs`: see `read`. A lock whose views have no orders does not need this method.
   */
  acceptTransfer?(over: LockView, signal: AbortSignal, timeoutMs?: number): Promise<Answer>;
  /** Reports changes until the signal aborts, and reconnects by itself. A lock without this method is polled. */
  watch?(observer: LockObserver, signal: AbortSignal): void;
  /** Where the candidates of this lock are shown to operators. A lock without it does not show them. Used after `prepare`. */
  readonly candidates?: CandidateRegistry | undefined;
  /** How to take part in a coordinated election. Only a lock in a Lease has it. Used after `prepare`. */
  readonly coordination?: Coordination | undefined;
  /** Records a message for people at the place of the lock. */
  announce?(message: string, view: LockView | undefined, signal: AbortSignal): Promise<void>;
}
