/**
 * Who leads, as far as a single read of the lock shows. Ages count by the API server's clock. If the server recorded when it
 * stored the record, that time overrides renewTime, which the holder wrote by its own clock: a leader whose clock is a minute
 * slow still leads, and a record restored from a backup has its full lease duration left.
 * A single read proves less than watching the lock, as candidates do: the holder may have died a moment ago.
 */
import {
  type LockKind,
  type LockObject,
  type ReadRecord,
  recordIn,
  recordWrittenAtMs,
} from "./lock-object.ts";
import { type OrdersInForce, ordersIn } from "./orders.ts";

type Standing =
  /** A holder has the lock and its lease has not expired. */
  | "led"
  /** A holder has the lock but its lease has expired. */
  | "expired"
  /** The last holder released the lock. */
  | "released"
  | "never-held"
  /** The object does not contain a valid record. */
  | "unreadable";

export interface ElectionState {
  readonly kind: LockKind;
  readonly namespace: string;
  readonly name: string;
  readonly standing: Standing;
  /** The leader; undefined unless `standing` is "led". */
  readonly leader?: string;
  readonly record: ReadRecord;
  /** Time since the present holder took the lock: the server's clock now minus the holder's clock then. */
  readonly heldForMs?: number;
  /** Time since the record was last written. */
  readonly ageMs?: number;
  /** Time until other candidates may take the lock; negative once they may. */
  readonly expiresInMs?: number;
  /** How far renewTime is ahead of the time at which the server stored it, if network delay cannot explain the difference. */
  readonly holderClockOffMs?: number;
  readonly orders: OrdersInForce;
  readonly object: LockObject;
}

/** The lease duration that core assumes if the lock has none. */
const assumedLeaseSeconds = 15;
/** A holder writes renewTime before it sends the record, and the server records whole seconds. */
const explicableSkewMs = 5_000;

/** Undefined if the object is not a lock. */
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
  // The holder wrote no times, so nothing shows that its lease has expired.
  return expiresInMs === undefined || expiresInMs > 0 ? "led" : "expired";
}

function momentOf(time: string | undefined): number | undefined {
  const ms = Date.parse(time ?? "");
  return Number.isNaN(ms) ? undefined : ms;
}
