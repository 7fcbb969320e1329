/**
 * Who leads, as far as one look at the lock can tell. Ages count by the API server's clock. Where the server recorded when it
 * stored the record, that is believed over renewTime, which the holder wrote by its own clock: a leader whose clock is a minute
 * slow still leads, and a record restored from a backup still has its time to run.
 * It cannot promise what a candidate knows that has watched the lock: the holder may have died a moment ago.
 */
import {
  type LockKind,
  type LockObject,
  type ReadRecord,
  recordIn,
  recordWrittenAtMs,
} from "./lock-object.ts";
import { type OrdersInForce, ordersIn } from "./orders.ts";

export type Standing =
  /** Somebody holds the lock and its time is running. */
  | "led"
  /** Somebody holds the lock and its time ran out. */
  | "expired"
  /** Its last holder gave it back. */
  | "released"
  | "never-held"
  /** What stands there cannot be read as a record. */
  | "unreadable";

export interface ElectionState {
  readonly kind: LockKind;
  readonly namespace: string;
  readonly name: string;
  readonly standing: Standing;
  /** Who leads now: undefined unless `standing` is "led". */
  readonly leader?: string;
  readonly record: ReadRecord;
  /** Since the present holder took the lock, by the holder's clock then and the server's now. */
  readonly heldForMs?: number;
  /** Since the record was last written. */
  readonly ageMs?: number;
  /** Until others may take the lock; negative once they may. */
  readonly expiresInMs?: number;
  /** By how much renewTime is ahead of when the server stored it, if by more than a network can explain. */
  readonly holderClockOffMs?: number;
  readonly orders: OrdersInForce;
  readonly object: LockObject;
}

/** What core assumes where a lock does not say. */
export const assumedLeaseSeconds = 15;
/** A holder stamps a record before it sends it, and the server notes whole seconds. */
const explicableSkewMs = 5_000;

/** Undefined when the object is no lock. */
export function stateOf(kind: LockKind, object: LockObject, serverNowMs: number): ElectionState | undefined {
  const record = recordIn(kind, object);
  if (record === undefined) return undefined;
  const { name, namespace } = object.metadata;
  const renewedMs = momentOf(record.renewTime);
  const storedMs = recordWrittenAtMs(kind, object);
  const offMs = renewedMs !== undefined && storedMs !== undefined ? renewedMs - storedMs : 0;
  const isOff = Math.abs(offMs) > explicableSkewMs;
  const writtenMs = isOff ? storedMs : (renewedMs ?? storedMs);
  const acquiredMs = momentOf(record.acquireTime);
  const ageMs = writtenMs === undefined ? undefined : Math.max(0, serverNowMs - writtenMs);
  const isHeld = record.holderIdentity !== "";
  const leaseMs = leaseSecondsOf(record) * 1_000;
  const expiresInMs = isHeld && ageMs !== undefined ? leaseMs - ageMs : undefined;
  const standing = standingOf(record, expiresInMs);
  return {
    kind,
    name,
    namespace,
    standing,
    record,
    orders: ordersIn(object, record.leaseTransitions),
    object,
    ...(standing === "led" && { leader: record.holderIdentity }),
    ...(isHeld &&
      acquiredMs !== undefined && { heldForMs: Math.max(0, serverNowMs - acquiredMs + (isOff ? offMs : 0)) }),
    ...(ageMs !== undefined && { ageMs }),
    ...(expiresInMs !== undefined && { expiresInMs }),
    ...(isOff && { holderClockOffMs: offMs }),
  };
}

export function leaseSecondsOf({ leaseDurationSeconds }: ReadRecord): number {
  return leaseDurationSeconds !== undefined && leaseDurationSeconds > 0
    ? leaseDurationSeconds
    : assumedLeaseSeconds;
}

function standingOf(record: ReadRecord, expiresInMs: number | undefined): Standing {
  if (record.problem !== undefined) return "unreadable";
  if (record.holderIdentity === "") {
    return record.renewTime === undefined && record.leaseTransitions === 0 ? "never-held" : "released";
  }
  // A holder that says no time at all: nobody can tell that it ran out.
  return expiresInMs === undefined || expiresInMs > 0 ? "led" : "expired";
}

function momentOf(time: string | undefined): number | undefined {
  const ms = Date.parse(time ?? "");
  return Number.isNaN(ms) ? undefined : ms;
}
