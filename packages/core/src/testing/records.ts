/** Short ways to make records and views of a lock. */
import type { LeaderRecord, LockView, Orders } from "../record.ts";

export const uid = "lock-1";

export function record(fields: Partial<LeaderRecord> = {}): LeaderRecord {
  return {
    holderIdentity: "b",
    leaseDurationSeconds: 15,
    acquireTime: "2030-01-01T00:00:00.000000Z",
    renewTime: "2030-01-01T00:00:00.000000Z",
    leaseTransitions: 0,
    ...fields,
  };
}

export function view(revision: number | bigint, of: LeaderRecord, inLock = uid): LockView {
  return { uid: inLock, version: String(revision), revision: BigInt(revision), record: of };
}

/** A lock that is held. Its renewTime contains the revision, so that each revision is a new renewal. */
export function held(revision: number | bigint, by = "b", fields: Partial<LeaderRecord> = {}): LockView {
  return view(revision, record({ holderIdentity: by, renewTime: `renewal ${revision}`, ...fields }));
}

/** A lock that its holder released. */
export function released(revision: number | bigint, fields: Partial<LeaderRecord> = {}): LockView {
  return view(revision, record({ holderIdentity: "", leaseDurationSeconds: 1, ...fields }));
}

/** The same lock with a new annotation: a new version with the same record. */
export function annotated(revision: number | bigint, of: LockView): LockView {
  return { ...of, version: String(revision), revision: BigInt(revision) };
}

/** The orders after the candidate that the transfer names has accepted it. */
export function accepted(orders: Orders = {}): Orders {
  return orders.transfer ? { ...orders, transfer: { ...orders.transfer, accepted: true } } : orders;
}
