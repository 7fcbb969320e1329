/**
 * The content of the lock, for any kind of lock object. Core writes times only for people and for client-go. It compares
 * them for equality, never with a clock, so the clock of another machine cannot mislead it (G1).
 */

export interface LeaderRecord {
  /** "" when nobody holds the lock. */
  readonly holderIdentity: string;
  /** undefined if the lock has no valid duration. The reader then uses its own. */
  readonly leaseDurationSeconds: number | undefined;
  readonly acquireTime: string | undefined;
  readonly renewTime: string | undefined;
  readonly leaseTransitions: number;
}

/**
 * Orders of an operator to the candidates, stored next to the record. An order names the leaseTransitions that the operator
 * read. It has no effect once another candidate leads, so nobody needs to remove it.
 */
export interface Orders {
  /** Nobody may lead until an operator removes this order. */
  readonly paused?: boolean;
  /** The leader with this leaseTransitions must step down. */
  readonly stepDown?: number;
  /** The candidate `to` is asked to take over from the leader with this leaseTransitions. */
  readonly transfer?: Transfer;
}

/**
 * A transfer changes nothing until the candidate `to` has accepted it: otherwise a misspelt name would cost a leader. Then the
 * leader must step down, and `to` may acquire the lock before all others.
 */
export interface Transfer {
  readonly transitions: number;
  readonly to: string;
  /** @default false */
  readonly accepted?: boolean;
}

/** One version of the lock. */
export interface LockView {
  readonly uid: string;
  /** Equal versions have equal content. */
  readonly version: string;
  /** Grows with every change, even if the lock is deleted and created again. The source of fencing tokens. */
  readonly revision: bigint;
  readonly record: LeaderRecord;
  /** @default none */
  readonly orders?: Orders;
  /** The candidate that the API server wants to lead instead of the holder, in a coordinated election. @default none */
  readonly preferredHolder?: string;
  /** The object as it was read, so that a write keeps every field that is not ours. Core does not use it. */
  readonly object?: unknown;
}

/** leaseTransitions is an int32 in the Kubernetes API. */
const maxTransitions = 2_147_483_647;

export function nextTransitions(transitions: number): number {
  return Math.min(transitions + 1, maxTransitions);
}

export function sameRecord(a: LeaderRecord, b: LeaderRecord): boolean {
  return (
    a.holderIdentity === b.holderIdentity &&
    a.renewTime === b.renewTime &&
    a.acquireTime === b.acquireTime &&
    a.leaseDurationSeconds === b.leaseDurationSeconds &&
    a.leaseTransitions === b.leaseTransitions
  );
}

/**
 * Whether a holder released the lock: client-go and tenure write an empty holder with duration 1. An empty holder with a
 * longer duration was written by somebody else. The true holder may not know yet, so its lease must still expire.
 */
export function isRelease(record: LeaderRecord): boolean {
  return record.holderIdentity === "" && (record.leaseDurationSeconds ?? 0) <= 1;
}

/**
 * RFC 3339 with microseconds, as in a Lease. The clock gives milliseconds. The last three digits are random, so that a
 * candidate recognises its own write even if another process has the same identity and the same time.
 */
export function microTime(wallMs: number, random: number): string {
  const micros = String(Math.floor(random * 1_000)).padStart(3, "0");
  return `${new Date(wallMs).toISOString().slice(0, -1)}${micros}Z`;
}

/**
 * The acquireTime of a new term. Its last three digits come from the digits of the random number that `microTime` leaves, so
 * that two processes with the same identity which acquire in the same millisecond write the same record only if their random
 * numbers agree in six digits.
 */
export function acquireMicroTime(wallMs: number, random: number): string {
  return microTime(wallMs, (random * 1_000) % 1);
}
