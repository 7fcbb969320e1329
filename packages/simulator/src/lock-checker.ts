/** Checks every write to one lock object, and what becomes of its holder when it vanishes. See checker.ts. */
import { isRelease, type LeaderRecord } from "@tenure/core";
import { ownLabel, preferredHolder } from "./http/objects.ts";
import type { StoredLock } from "./server.ts";
import type { Check, CheckedCandidate } from "./violation.ts";

/** How long a lease a process assumes for a holder that vanished: the longest that it has seen or has itself, or 0 if it cannot know. */
export type AssumedLease = (process: string) => number;

/** The clock rates of two machines differ by at most 1 %, so a wait of one lease takes at least this much of it. */
const minWait = 0.99;
/** The time for latency, stagger and one more round trip, without faults. */
const maxDelayMs = 100;

/** The checks of the whole simulation. */
interface Surroundings {
  readonly now: () => number;
  /** Of all candidates. */
  readonly longestLeaseMs: number;
  candidate(id: string): CheckedCandidate | undefined;
  wasAcquirableSince(sinceMs: number, except: string | undefined): boolean;
  excuseUntil(untilMs: number): void;
  violation(check: Check, message: string): void;
}

/** Whether orders keep candidates from a free lock. A transfer that nobody has accepted does not. */
function isHeldBack({ orders }: StoredLock): boolean {
  return orders?.paused === true || orders?.transfer?.accepted === true;
}

/** Whether the API server has named a candidate in this record, and nobody has acquired the lock since. */
function isNaming(lock: StoredLock | undefined): boolean {
  if (!lock || lock.writer !== undefined) return false;
  return lock.record.holderIdentity !== "" && lock.record.acquireTime === undefined;
}

export class LockChecker {
  readonly #checker: Surroundings;
  /** Only then is a free object a free lock: in a migration the other object may be held. */
  readonly #isOnlyObject: () => boolean;
  /** Whether the other object of a migration has a transfer, which counts instead of the one in this object. */
  readonly #hasOtherTransfer: () => boolean;
  readonly #lastCommitMs = new Map<string, number>();
  /** The last held lock that was deleted, emptied by hand or rolled back. */
  #vanished:
    | { readonly lock: StoredLock; readonly atMs: number; readonly assumed?: AssumedLease }
    | undefined;
  #wasVersionReused = false;
  /** The lock before the API server named a candidate. */
  #beforeNaming: StoredLock | undefined;

  constructor(checker: Surroundings, isOnlyObject: () => boolean, hasOtherTransfer: () => boolean) {
    this.#checker = checker;
    this.#isOnlyObject = isOnlyObject;
    this.#hasOtherTransfer = hasOtherTransfer;
  }

  /** When this process last wrote itself into the object as its holder. */
  lastCommitMs(writer: string): number | undefined {
    return this.#lastCommitMs.get(writer);
  }

  /** The same version was given twice after a restore, and the next write replaces one that its writer has not seen. */
  versionReused(): void {
    this.#wasVersionReused = true;
    this.#checker.excuseUntil(this.#checker.now() + this.#checker.longestLeaseMs);
  }

  /**
   * The lock is deleted, emptied by hand or rolled back. Its holder may still be working, and a process that has not seen the
   * lock cannot know that. A process that has seen it may not have seen its last holder. It then assumes the longest lease
   * that it has seen or has itself. @param assumed undefined if every process can see it in the record
   */
  vanished(lock: StoredLock, assumed?: AssumedLease): void {
    const held = lock.record.holderIdentity === "" ? this.#vanished?.lock : lock;
    // An earlier holder may work for longer, and the processes that waited for it still do.
    const isEarlierLonger =
      held === lock && this.#vanished && this.#expiryOf(this.#vanished.lock) > this.#expiryOf(lock);
    if (isEarlierLonger) return;
    if (held && (assumed || held === lock))
      this.#vanished = { lock: held, atMs: this.#checker.now(), ...(assumed && { assumed }) };
  }

  committed(current: StoredLock | undefined, after: StoredLock): void {
    const { writer, record } = after;
    const isNamed = isNaming(current);
    if (writer === undefined) {
      if (isNaming(after) && !isNamed) this.#beforeNaming = current;
      return;
    }
    // A name gives no right to work. Whoever held the lock before it counts.
    const before = isNamed ? this.#beforeNaming : current;
    this.#checkAnnotations(current, after, writer);
    if (record.holderIdentity === "") this.#checkRelease(before, after, writer);
    else {
      this.#lastCommitMs.set(writer, after.committedMs);
      const isRenewal =
        before?.writer === writer &&
        before.record.holderIdentity !== "" &&
        !this.#isRolledBack(before, writer);
      if (!isRenewal) {
        this.#checkAcquisition(before, writer, record);
        if (current) this.#checkOrders(current, writer);
      }
    }
    this.#wasVersionReused = false;
  }

  #checkAnnotations(before: StoredLock | undefined, after: StoredLock, writer: string): void {
    const kept = describe(before?.object.annotations ?? {});
    const written = describe(after.object.annotations);
    if (kept !== written && !this.#wasVersionReused)
      this.#checker.violation(
        "foreign-data",
        `${writer} changed what others wrote from ${kept} to ${written}`,
      );
  }

  #checkOrders(before: StoredLock, writer: string): void {
    const candidate = this.#checker.candidate(writer);
    const { orders, record } = before;
    if (!orders || candidate?.kind !== "tenure" || this.#wasVersionReused) return;
    if (orders.paused) this.#checker.violation("pause", `${writer} acquired the lock although it is paused`);
    const { transfer } = orders;
    const isToAnother =
      transfer?.accepted === true &&
      transfer.transitions === record.leaseTransitions &&
      !writer.startsWith(`${transfer.to}#`);
    if (!isToAnother || this.#hasOtherTransfer()) return;
    const isReleased = isRelease(record);
    const freeAtMs = isReleased ? before.committedMs : this.#expiryOf(before);
    const earlyMs = freeAtMs + candidate.leaseMs * minWait - this.#checker.now();
    const isOwn = before.writer === writer;
    if (earlyMs > 0 && !isOwn)
      this.#checker.violation(
        "transfer",
        `${writer} acquired the lock ${Math.round(earlyMs)} ms too early for a transfer`,
      );
  }

  #checkRelease(before: StoredLock | undefined, after: StoredLock, writer: string): void {
    if (before?.writer === writer || this.#wasVersionReused) return;
    if (this.#checker.candidate(writer)?.kind === "tenure") {
      this.#checker.violation(
        "release",
        `${writer} released a lock that ${before ? (before.writer ?? "a person") : "nobody"} had written`,
      );
    } else if (before && before.record.holderIdentity !== "")
      this.#checker.excuseUntil(after.committedMs + this.#checker.longestLeaseMs);
  }

  #checkAcquisition(before: StoredLock | undefined, writer: string, record: LeaderRecord): void {
    const now = this.#checker.now();
    const candidate = this.#checker.candidate(writer);
    const isTenure = candidate?.kind === "tenure";
    const vanished = this.#vanished;
    let freeAtMs: number;
    let shouldHaveKnown = !this.#wasVersionReused;
    let wasUnderWay = false;
    const isOwn = before?.writer === writer && !this.#isRolledBack(before, writer);
    // A record that a process wrote since then counts instead of the one that vanished.
    const isReplaced =
      before?.writer !== undefined &&
      (before.record.holderIdentity !== "" || isRelease(before.record)) &&
      before.committedMs > (vanished?.atMs ?? Number.NEGATIVE_INFINITY);
    if (vanished && vanished.lock.writer !== writer && !isReplaced) {
      freeAtMs = this.#expiryOf(vanished.lock);
      const assumedLeaseMs = vanished.assumed?.(writer) ?? Number.POSITIVE_INFINITY;
      shouldHaveKnown &&= assumedLeaseMs >= this.#leaseOf(vanished.lock);
      wasUnderWay = !before && candidate?.knewWhenSending?.(record, vanished.lock.uid) === false;
    } else if (before && before.record.holderIdentity !== "") freeAtMs = this.#expiryOf(before);
    else freeAtMs = before?.committedMs ?? Number.NEGATIVE_INFINITY;
    if (before && isOwn) freeAtMs = before.committedMs;

    if (now < freeAtMs) {
      // The request to create the lock was sent before its candidate saw the holder, and cannot be called back. The candidate
      // must not work after that, which the check for overlaps proves.
      if (isTenure && shouldHaveKnown && wasUnderWay) return;
      if (isTenure && shouldHaveKnown) {
        this.#checker.violation(
          "early-acquisition",
          `${writer} acquired the lock ${Math.round(freeAtMs - now)} ms before the lease of its holder expired`,
        );
      } else this.#checker.excuseUntil(freeAtMs + this.#checker.longestLeaseMs);
    } else if (before && !vanished && !isHeldBack(before)) this.#checkDelay(before, now, freeAtMs);
    // A candidate on client-go does not wait for a holder that vanished. From then on its own record counts.
    if (now >= freeAtMs || !isTenure) this.#vanished = undefined;
  }

  /** Whether the record is older than the loss of a record of another process: a restore brought it back. */
  #isRolledBack(lock: StoredLock, writer: string): boolean {
    const vanished = this.#vanished;
    return (
      vanished !== undefined &&
      vanished.lock.writer !== writer &&
      lock.committedMs < vanished.lock.committedMs
    );
  }

  #checkDelay(before: StoredLock, now: number, freeAtMs: number): void {
    const driftMs = this.#checker.longestLeaseMs * 0.02;
    if (now <= freeAtMs + maxDelayMs + driftMs) return;
    const checkedFromMs = freeAtMs - 2 * this.#checker.longestLeaseMs;
    if (!this.#isOnlyObject() || !this.#checker.wasAcquirableSince(checkedFromMs, before.writer)) return;
    this.#checker.violation(
      "late-acquisition",
      `the lock was free for ${Math.round(now - freeAtMs)} ms, without faults, before it was acquired`,
    );
  }

  #expiryOf(lock: StoredLock): number {
    return lock.committedMs + this.#leaseOf(lock) * minWait;
  }

  #leaseOf(lock: StoredLock): number {
    return (lock.record.leaseDurationSeconds ?? this.#checker.longestLeaseMs / 1_000) * 1_000;
  }
}

/**
 * Everything but the labels that the options of the lock tell every candidate to set, and the wish of the API server for another
 * holder, which ends with a release.
 */
function describe(annotations: Readonly<Record<string, string>>): string {
  return JSON.stringify(
    Object.entries(annotations)
      .filter(([name]) => name !== ownLabel && name !== preferredHolder)
      .sort(),
  );
}
