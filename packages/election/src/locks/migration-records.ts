/**
 * One record for the two objects of a migration. The candidate decides by this record alone, so it upholds G1 by three rules:
 *
 * 1. A candidate recognises a record as its own write only if both objects prove it. A half-written acquisition never
 *    looks like a record that somebody wrote.
 * 2. For every other candidate, a renewal in either of the objects changes the record, so the wait for each object counts
 *    from when that object was seen.
 * 3. The lock is free only if both objects are.
 */
import { isRelease, type LeaderRecord, sameRecord } from "@tenure/core";

/** client-go's name for the holder if the two locks name different ones. */
const unknownHolder = "leaderelection.k8s.io/unknown";

/** The record of an object that does not exist. */
const noRecord: LeaderRecord = {
  holderIdentity: "",
  leaseDurationSeconds: undefined,
  acquireTime: undefined,
  renewTime: undefined,
  leaseTransitions: 0,
};

export interface Records {
  readonly from: LeaderRecord;
  readonly to: LeaderRecord;
}

/** The record if both objects exist. @param isOwn whether the candidate has written records with this identity */
export function combineRecords({ from, to }: Records, isOwn: (identity: string) => boolean): LeaderRecord {
  if (sameRecord(from, to)) return to;
  const { holderIdentity } = to;
  if (holderIdentity !== from.holderIdentity) return joinRecords(unknownHolder, from, to);
  if (holderIdentity === "") return joinRecords("", from, to);
  // A renewal has reached only one of the objects. Or the candidate is on client-go, which writes its times with a different
  // precision into the two objects, so that they always differ.
  if (!isOwn(holderIdentity)) return joinRecords(holderIdentity, from, to);
  // A renewal that reached only `from` has renewed nothing yet. Records of different terms are a half-written acquisition, or
  // one of them belongs to another process with the same identity.
  return isSameTerm(from, to) ? to : joinRecords(unknownHolder, from, to);
}

/**
 * The record if only one of the objects exists. Another candidate may use only this object, so its record counts in full.
 * A record with our own identity is half-written, or the other half was deleted. client-go compares the identity too.
 */
export function onlyRecord(record: LeaderRecord, isOwn: (identity: string) => boolean): LeaderRecord {
  return isOwn(record.holderIdentity) ? joinRecords(unknownHolder, record, noRecord) : record;
}

/** The acquireTime has random digits, so two terms do not share one. */
function isSameTerm(a: LeaderRecord, b: LeaderRecord): boolean {
  return a.acquireTime === b.acquireTime && a.leaseTransitions === b.leaseTransitions;
}

/** A record that changes with each of the two, and that no candidate can take for a record that it wrote. */
function joinRecords(holderIdentity: string, from: LeaderRecord, to: LeaderRecord): LeaderRecord {
  return {
    holderIdentity,
    leaseDurationSeconds: longestDuration([from, to]),
    acquireTime: `${from.acquireTime}/${to.acquireTime}`,
    renewTime: `${from.renewTime}/${to.renewTime}`,
    leaseTransitions: Math.max(from.leaseTransitions, to.leaseTransitions),
  };
}

/** Nobody waits for an object that is free, so its duration does not count. undefined: the reader uses its own. */
function longestDuration(records: readonly LeaderRecord[]): number | undefined {
  const held = records.filter((record) => !isRelease(record));
  const durations = (held.length > 0 ? held : records).map((record) => record.leaseDurationSeconds);
  return durations.includes(undefined) ? undefined : Math.max(...(durations as number[]));
}
