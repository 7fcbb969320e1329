/**
 * The seam between an election and where its record lives. Everything that the election promises rests on three
 * properties of a lock, which a new kind must have (the conformance suite of the locks checks them):
 *
 * 1. A write is compare-and-swap: it changes the lock only if the lock is still exactly what was read.
 * 2. A revision grows with every change, also over deletion and re-creation, and orders all changes.
 * 3. Nothing that the lock did not write itself is dropped: fields, labels, annotations.
 */
import type { Answer, LeaderRecord, LockView } from "@tenure/core";

export interface LockObserver {
  /** The lock exists and looks like this. May repeat itself. */
  observed(view: LockView): void;
  deleted(revision: bigint): void;
  /** From now on every change is reported. What changed before is reported too, or seen by the next read. */
  up(): void;
  /** Changes may be missed from now on. */
  down(): void;
}

export interface Lock {
  /** What and where, for people: `lease default/my-service`. */
  readonly description: string;
  /** How the lock looks now. Never rejects: what went wrong is an answer too. */
  read(signal: AbortSignal): Promise<Answer>;
  /** Writes the record over `over`, or creates the lock when `over` is undefined. Never rejects. */
  write(record: LeaderRecord, over: LockView | undefined, signal: AbortSignal): Promise<Answer>;
  /** Reports changes until the signal aborts, reconnecting by itself. A lock without this is polled. */
  watch?(observer: LockObserver, signal: AbortSignal): void;
}
