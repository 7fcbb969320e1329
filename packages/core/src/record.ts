/**
 * What stands in the lock, whatever kind of object that is. Times are opaque here: core writes them for people and for
 * client-go to read, compares them only for identity, and so cannot be misled by another machine's clock (G1).
 */

export interface LeaderRecord {
  /** "" when nobody holds the lock. */
  readonly holderIdentity: string;
  /** undefined when the lock says nothing usable; the reader then assumes its own lease duration. */
  readonly leaseDurationSeconds: number | undefined;
  readonly acquireTime: string | undefined;
  readonly renewTime: string | undefined;
  readonly leaseTransitions: number;
}

/**
 * What an operator asks of the candidates, written beside the record. An order names the record's leaseTransitions as the
 * operator read them, so that it is dead as soon as somebody else leads: nobody has to take it back.
 */
export interface Orders {
  /** Nobody is to lead, until this is taken back. */
  readonly paused?: boolean;
  /** The leader of this count of transitions is to step down. */
  readonly stepDown?: number;
  /** The leader of this count is to step down, and the others leave its succession to one candidate for a while. */
  readonly transfer?: { readonly transitions: number; readonly to: string };
}

/** The lock as it was at one moment. */
export interface LockView {
  readonly uid: string;
  /** Equal versions are the same content. */
  readonly version: string;
  /** Grows with every change of the lock, also over deletion and re-creation. The fencing token is one of these. */
  readonly revision: bigint;
  readonly record: LeaderRecord;
  /** @default none */
  readonly orders?: Orders;
  /** The object as it was read, for the lock to write back with nothing dropped. Core never looks inside. */
  readonly object?: unknown;
}

/** leaseTransitions is an int32 on the wire. */
const mostTransitions = 2_147_483_647;

export function nextTransitions(transitions: number): number {
  return Math.min(transitions + 1, mostTransitions);
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
 * Whether the record has the form in which a holder lets go (client-go and we write duration 1). An emptied holder with
 * a longer duration was emptied by somebody else, and its holder, who may not know yet, has that long.
 */
export function isRelease(record: LeaderRecord): boolean {
  return record.holderIdentity === "" && (record.leaseDurationSeconds ?? 0) <= 1;
}

/**
 * RFC 3339 with microseconds, as a Lease has it. Clocks here give milliseconds; the last three digits come from
 * `random`, so that a candidate recognises its own write even beside a twin with the same identity and clock.
 */
export function microTime(wallMs: number, random: number): string {
  const micros = String(Math.floor(random * 1_000)).padStart(3, "0");
  return `${new Date(wallMs).toISOString().slice(0, -1)}${micros}Z`;
}
