/** Reads a record from the raw fields of a lock. Other programs write these fields too, and so do people with editors. */
import type { LeaderRecord } from "@tenure/core";

/** The content of the lock is not a record. The lock is not changed, and the error is reported. */
export class UnreadableRecord extends Error {
  override readonly name = "UnreadableRecord";
}

/** The API stores integers as int32. */
const largestInteger = 2_147_483_647;

export interface RawRecord {
  readonly holderIdentity?: unknown;
  readonly leaseDurationSeconds?: unknown;
  readonly acquireTime?: unknown;
  readonly renewTime?: unknown;
  readonly transitions?: unknown;
}

/** The holder must be readable, because it decides who may work. Any other field that is not usable counts as missing. */
export function readRecord(raw: RawRecord): LeaderRecord {
  const { holderIdentity } = raw;
  if (holderIdentity !== undefined && holderIdentity !== null && typeof holderIdentity !== "string") {
    throw new UnreadableRecord(`holderIdentity is not a string: ${JSON.stringify(holderIdentity)}`);
  }
  return {
    holderIdentity: holderIdentity ?? "",
    leaseDurationSeconds: wholeNumber(raw.leaseDurationSeconds, 1),
    acquireTime: text(raw.acquireTime),
    renewTime: text(raw.renewTime),
    leaseTransitions: wholeNumber(raw.transitions, 0) ?? 0,
  };
}

function wholeNumber(value: unknown, least: number): number | undefined {
  const isUsable =
    Number.isInteger(value) && (value as number) >= least && (value as number) <= largestInteger;
  return isUsable ? (value as number) : undefined;
}

function text(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}
