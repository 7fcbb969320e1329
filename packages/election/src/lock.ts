/**
 * The seam between an election and where its record lives. Everything that the election promises rests on three
 * properties of a lock, which a new kind must have (the conformance suite of the locks checks them):
 *
 * 1. A write is compare-and-swap: it changes the lock only if the lock is still exactly what was read.
 * 2. A revision grows with every change, also over deletion and re-creation, and orders all changes.
 * 3. Nothing that the lock did not write itself is dropped: fields, labels, annotations.
 */
import type { Answer, Failure, LeaderRecord, LockView } from "@tenure/core";

export interface LockObserver {
  /** The lock exists and looks like this. May repeat itself. */
  observed(view: LockView): void;
  deleted(revision: bigint): void;
  /** Something changed that can only be understood by reading the lock. */
  changed(): void;
  /** From now on every change is reported. What changed before is reported too, or seen by the next read. */
  up(): void;
  /** Changes may be missed from now on; why, if that is worth telling. */
  down(failure: Failure | undefined): void;
}

/** How to make the same lock again in another thread. */
export type LockSpec =
  | { readonly kind: "lease" | "configmap" | "endpoints"; readonly options: object }
  | { readonly kind: "migration"; readonly from: LockSpec; readonly to: LockSpec };

export interface Lock {
  /** What and where, for people: `lease default/my-service`. */
  readonly description: string;
  /** undefined: this lock cannot move to another thread. */
  readonly spec?: LockSpec | undefined;
  /** Makes sure that the lock can be reached at all; rejects when only a person can mend what is wrong. */
  prepare?(): Promise<void>;
  /**
   * Reads the lock. Never rejects: a failure is an answer too.
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
  /** Reports changes until the signal aborts, reconnecting by itself. A lock without this is polled. */
  watch?(observer: LockObserver, signal: AbortSignal): void;
  /** Tells people what happened, where the lock is. */
  announce?(message: string, view: LockView | undefined, signal: AbortSignal): Promise<void>;
}
