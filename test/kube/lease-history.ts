/**
 * Judges an election by what its Lease went through, as a watch outside all candidates saw it, and by what our candidates
 * said they did meanwhile. All times are of one machine: `seenMs` and `monoMs` by CLOCK_MONOTONIC, the record's own by the
 * wall clock.
 */
import type { LeaseEvent } from "../../bench/lib/api.mjs";
import type { Line } from "../../bench/lib/candidates.mjs";

export interface Entry {
  readonly revision: bigint;
  readonly holder: string;
  readonly durationMs: number;
  readonly acquireMs: number;
  readonly renewMs: number;
  readonly transitions: number;
  readonly seenMs: number;
}

/** How late the judge's own watch may have seen a renewal that a candidate, with a watch of its own, saw at once. */
const judgeLatencyMs = 250;
/** Times in a record have microseconds, of which our clock gives only the milliseconds. */
const roundingMs = 2;
/**
 * client-go compares records with times cut to seconds: of two renewals in one second it notices the first, and counts
 * from there. Its own leaders renew that often in a short test; between them that is no concern of ours.
 */
const clientGoBlindnessMs = 1_000;

const microTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/;

/** What the Lease said at each change. Throws if that is not what client-go and we agreed on. */
export function entryOf({ type, lease, seenMs }: LeaseEvent): Entry {
  const { holderIdentity, leaseDurationSeconds, acquireTime, renewTime, leaseTransitions } = lease.spec;
  const isWhole = (value: unknown) => Number.isSafeInteger(value);
  const isReadable =
    type !== "DELETED" &&
    typeof holderIdentity === "string" &&
    isWhole(leaseDurationSeconds) &&
    isWhole(leaseTransitions) &&
    microTime.test(acquireTime ?? "") &&
    microTime.test(renewTime ?? "");
  if (!isReadable) throw new Error(`not a record that both can read: ${type} ${JSON.stringify(lease.spec)}`);
  return {
    revision: BigInt(lease.metadata.resourceVersion),
    holder: holderIdentity,
    durationMs: (leaseDurationSeconds ?? 0) * 1_000,
    acquireMs: Date.parse(acquireTime ?? ""),
    renewMs: Date.parse(renewTime ?? ""),
    transitions: leaseTransitions ?? -1,
    seenMs,
  };
}

/** Every violation, in words. Empty: all is well. */
export function violations(history: readonly Entry[], ourLines: readonly Line[]): string[] {
  const isOurs = (holder: string) => holder.startsWith("ours-");
  return [
    ...pairs(history).flatMap(([before, after]) => wrongTransitions(before, after)),
    ...pairs(history).flatMap(([before, after]) =>
      tooEarly(before, after, isOurs(before.holder) || isOurs(after.holder)),
    ),
    ...wrongTokens(history, ourLines),
    ...workWithoutRight(history, ourLines),
  ];
}

/** client-go counts every acquisition but the first, also from a released record; renewal and release count nothing. */
function wrongTransitions(before: Entry, after: Entry): string[] {
  const isAcquisition = after.holder !== "" && after.holder !== before.holder;
  const expected = before.transitions + (isAcquisition ? 1 : 0);
  if (after.transitions === expected) return [];
  return [`leaseTransitions is ${after.transitions} and not ${expected}: ${pair(before, after)}`];
}

/** Whoever takes what was not released waits until the holder's time has run out. */
function tooEarly(before: Entry, after: Entry, concernsUs: boolean): string[] {
  if (before.holder === "" || after.holder === before.holder || after.holder === "") return [];
  const blindMs = concernsUs ? 0 : clientGoBlindnessMs;
  const writtenMs = after.acquireMs - before.renewMs;
  const seenMs = after.seenMs - before.seenMs;
  const problems = [];
  if (writtenMs < before.durationMs - blindMs - roundingMs)
    problems.push(`taken ${writtenMs} ms after its last renewal by the record: ${pair(before, after)}`);
  if (seenMs < before.durationMs - blindMs - judgeLatencyMs)
    problems.push(
      `taken ${Math.round(seenMs)} ms after its last renewal by the watch: ${pair(before, after)}`,
    );
  return problems;
}

/** A term's token is the revision of the write that acquired it, and each is greater than all before (G2). */
function wrongTokens(history: readonly Entry[], ourLines: readonly Line[]): string[] {
  const starts = ourLines
    .filter((line) => line.event === "started-leading")
    .sort((a, b) => a.monoMs - b.monoMs);
  const increase = pairs(starts).flatMap(([before, after]) =>
    BigInt(after.token ?? 0) > BigInt(before.token ?? 0)
      ? []
      : [`token ${after.token} of ${after.id} follows ${before.token} of ${before.id}`],
  );
  const foreign = starts.flatMap(({ id, token }) => {
    const index = history.findIndex(({ revision }) => String(revision) === token);
    const isAcquisition = history[index]?.holder === id && history[index - 1]?.holder !== id;
    return isAcquisition ? [] : [`token ${token} of ${id} is not the revision of its acquisition`];
  });
  return [...increase, ...foreign];
}

/**
 * Nothing of our term is done after somebody else's record, or a release, was seen in the Lease, nor after our own last
 * record has run out (G1). What came first is told by the token: the judge may see our acquisition later than we do.
 */
function workWithoutRight(history: readonly Entry[], ourLines: readonly Line[]): string[] {
  return ourLines.flatMap(({ event, id, token, monoMs }) => {
    if (event !== "worked" && event !== "started-leading") return [];
    const after = history.filter(({ revision }) => revision >= BigInt(token ?? 0));
    const end = after.findIndex(({ holder }) => holder !== id);
    const own = end < 0 ? after : after.slice(0, end);
    const next = after[end];
    const last = own.at(-1);
    const problems = [];
    if (next && monoMs > next.seenMs)
      problems.push(`${id} ${event} ${Math.round(monoMs - next.seenMs)} ms after ${describe(next)}`);
    if (last && monoMs > last.seenMs + last.durationMs)
      problems.push(`${id} ${event} after its own lease had run out: ${describe(last)}`);
    return problems;
  });
}

function pairs<T>(items: readonly T[]): [T, T][] {
  return items.slice(1).map((item, index) => [items[index] as T, item]);
}

function pair(before: Entry, after: Entry): string {
  return `${describe(before)}, then ${describe(after)}`;
}

function describe({ revision, holder, transitions }: Entry): string {
  return `revision ${revision} of ${holder || "nobody"} (transitions ${transitions})`;
}
