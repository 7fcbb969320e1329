/**
 * Checks an election against the history of its Lease, which an independent watch recorded, and against the log lines of our
 * candidates. All times are from one machine: `seenMs` and `monoMs` from CLOCK_MONOTONIC, those in the record from the wall
 * clock.
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

/** How much later than a candidate the independent watch may see a renewal. */
const watchLatencyMs = 250;
/** Times in a record have microseconds, but our clock has only milliseconds. */
const roundingMs = 2;
/**
 * client-go compares records with times truncated to seconds: of two renewals within a second it notices only the first, and
 * counts from there. Its leaders renew that often in a short test. Between two client-go candidates this is tolerated.
 */
const clientGoTruncationMs = 1_000;

const microTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/;

/** The record after one change. Throws if client-go or tenure could not read it. */
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

/** A sentence for every violation. */
export function violations(history: readonly Entry[], ourLines: readonly Line[]): string[] {
  const isOurs = (holder: string) => holder.startsWith("ours-");
  return [
    ...pairs(history).flatMap(([before, after]) => wrongTransitions(before, after)),
    ...pairs(history).flatMap(([before, after]) =>
      tooEarly(before, after, isOurs(before.holder) || isOurs(after.holder)),
    ),
    ...wrongTokens(history, ourLines),
    ...workWithoutLease(history, ourLines),
  ];
}

/** client-go counts every acquisition except the first, also of a released record. It does not count renewals and releases. */
function wrongTransitions(before: Entry, after: Entry): string[] {
  const isAcquisition = after.holder !== "" && after.holder !== before.holder;
  const expected = before.transitions + (isAcquisition ? 1 : 0);
  if (after.transitions === expected) return [];
  return [`leaseTransitions is ${after.transitions} instead of ${expected}: ${pair(before, after)}`];
}

/** A candidate may acquire a lock that was not released only after the lease of its holder has expired. */
function tooEarly(before: Entry, after: Entry, concernsUs: boolean): string[] {
  if (before.holder === "" || after.holder === before.holder || after.holder === "") return [];
  const toleranceMs = concernsUs ? 0 : clientGoTruncationMs;
  const writtenMs = after.acquireMs - before.renewMs;
  const seenMs = after.seenMs - before.seenMs;
  const problems = [];
  if (writtenMs < before.durationMs - toleranceMs - roundingMs)
    problems.push(`acquired ${writtenMs} ms after the last renewal by the record: ${pair(before, after)}`);
  if (seenMs < before.durationMs - toleranceMs - watchLatencyMs)
    problems.push(
      `acquired ${Math.round(seenMs)} ms after the last renewal by the watch: ${pair(before, after)}`,
    );
  return problems;
}

/** The token of a term is the revision of the write that acquired the lock, and tokens always increase (G2). */
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
    const index = history.findIndex(({ revision }) => revision === BigInt(token ?? -1));
    const isAcquisition = history[index]?.holder === id && history[index - 1]?.holder !== id;
    return isAcquisition ? [] : [`token ${token} of ${id} is not the revision of its acquisition`];
  });
  return [...increase, ...foreign];
}

/**
 * Our candidate does no work after the watch has seen the record of another holder or a release, nor after its own last
 * record has expired (G1). The token gives the order: the watch may see an acquisition later than the candidate itself.
 */
function workWithoutLease(history: readonly Entry[], ourLines: readonly Line[]): string[] {
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
      problems.push(`${id} ${event} after its own lease had expired: ${describe(last)}`);
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
