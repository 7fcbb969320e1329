/**
 * Checks a simulation in true time:
 *
 * G1  Two tenure processes never work at once. None works after its lease has expired. None acquires a lock while the
 *     lease of its holder has not expired.
 * G2  Tokens strictly increase.
 * G3  A process releases the lock only over its own record. It drops nothing from the object that others wrote.
 * G4  Without faults, a free lock is acquired at once, and in the end somebody leads.
 *
 * Orders of an operator are followed: nobody acquires a paused lock, and after the chosen candidate has accepted a transfer, only
 * that candidate.
 *
 * A client-go process can break these rules: it works after its lease has expired, releases over another's record, and
 * acquires a deleted lock at once. For one lease after that, overlaps are counted separately, not as violations.
 */
import { isRelease } from "@tenure/core";
import type { StoredLock } from "./server.ts";

export interface Violation {
  readonly rule: "G1" | "G2" | "G3" | "G4" | "orders";
  readonly atMs: number;
  readonly message: string;
}

export interface CheckedCandidate {
  readonly id: string;
  readonly kind: "tenure" | "client-go";
  readonly leaseMs: number;
}

/** The processes that have seen a lock, and the longest lease that each of them has seen or has itself. */
type Knowers = ReadonlyMap<string, number>;

/** The clock rates of two machines differ by at most 1 %, so a wait of one lease takes at least this much of it. */
const minWait = 0.99;
/** The time for latency, stagger and one more round trip, without faults. */
const maxDelayMs = 100;

function describe(annotations: Readonly<Record<string, string>>): string {
  return JSON.stringify(Object.entries(annotations).sort());
}

/** Whether orders keep candidates from a free lock. A transfer that nobody has accepted does not. */
function isHeldBack({ orders }: StoredLock): boolean {
  return orders?.paused === true || orders?.transfer?.accepted === true;
}

export class Checker {
  readonly violations: Violation[] = [];
  readonly terms = { tenure: 0, clientGo: 0 };
  clientGoOverlaps = 0;

  readonly #now: () => number;
  readonly #longestLeaseMs: number;
  readonly #working = new Map<string, CheckedCandidate>();
  readonly #lastCommitMs = new Map<string, number>();
  readonly #candidates = new Map<string, CheckedCandidate>();
  readonly #silentlyWatching = new Set<string>();
  #highestToken = -1n;
  #excusedUntilMs = Number.NEGATIVE_INFINITY;
  /** The last held lock that was deleted, emptied by hand or rolled back, and which processes know. undefined: all. */
  #vanished:
    | { readonly lock: StoredLock; readonly atMs: number; readonly knownTo: Knowers | undefined }
    | undefined;
  #wasVersionReused = false;
  #lastFaultMs = 0;
  #hasActiveFault = false;
  #readySinceMs = new Map<string, number>();

  /** @param longestLeaseMs of all candidates */
  constructor(now: () => number, longestLeaseMs: number) {
    this.#now = now;
    this.#longestLeaseMs = longestLeaseMs;
  }

  started(candidate: CheckedCandidate): void {
    this.#candidates.set(candidate.id, candidate);
    if (candidate.kind === "tenure") this.#readySinceMs.set(candidate.id, this.#now());
  }

  /** The process does not campaign: it is dead, stopping, or in its cooldown. */
  unready(id: string): void {
    this.#readySinceMs.delete(id);
  }

  ready(id: string): void {
    this.#readySinceMs.set(id, this.#now());
  }

  /** A fault begins or ends. While one is active, and some time later, a free lock need not be acquired at once. */
  faultChanged(active: number): void {
    this.#lastFaultMs = this.#now();
    this.#hasActiveFault = active > 0;
  }

  termStarted(candidate: CheckedCandidate, token: bigint | undefined): void {
    if (candidate.kind === "tenure") this.terms.tenure += 1;
    else this.terms.clientGo += 1;
    if (token === undefined) return;
    if (token <= this.#highestToken) {
      this.#violation(
        "G2",
        `${candidate.id} got token ${token}, but token ${this.#highestToken} was given before`,
      );
    }
    this.#highestToken = token > this.#highestToken ? token : this.#highestToken;
  }

  workStarted(candidate: CheckedCandidate): void {
    for (const other of this.#working.values()) {
      if (other.id === candidate.id) continue;
      const areBothTenure = other.kind === "tenure" && candidate.kind === "tenure";
      if (areBothTenure && this.#now() > this.#excusedUntilMs) {
        this.#violation("G1", `${candidate.id} started to work while ${other.id} was working`);
      } else this.clientGoOverlaps += 1;
    }
    this.#working.set(candidate.id, candidate);
  }

  workStopped(candidate: CheckedCandidate): void {
    if (!this.#working.delete(candidate.id) || candidate.kind !== "tenure") return;
    const lastMs = this.#lastCommitMs.get(candidate.id) ?? Number.NEGATIVE_INFINITY;
    const overMs = this.#now() - (lastMs + candidate.leaseMs);
    if (overMs > 0) {
      this.#violation(
        "G1",
        `${candidate.id} worked for ${Math.round(overMs)} ms after its lease had expired`,
      );
    }
  }

  /** The process does not hear of changes by its watch. It finds a free lock only when it reads. */
  hasSilentWatch(id: string): void {
    this.#silentlyWatching.add(id);
  }

  /** The store is restored from a backup: tokens start again from there. */
  restored(): void {
    this.#highestToken = -1n;
  }

  /** The same version was given twice after a restore, and the next write replaces one that its writer has not seen. */
  versionReused(): void {
    this.#wasVersionReused = true;
    this.#excuseUntil(this.#now() + this.#longestLeaseMs);
  }

  /**
   * The lock is deleted, emptied by hand or rolled back. Its holder may still be working, and a process that has not seen the
   * lock cannot know that. A process that has seen it may not have seen its last holder. It then assumes the longest lease
   * that it has seen or has itself. @param knownTo undefined if every process can see it in the record
   */
  vanished(lock: StoredLock, knownTo: Knowers | undefined): void {
    const held = lock.record.holderIdentity === "" ? this.#vanished?.lock : lock;
    // An earlier holder may work for longer, and the processes that waited for it still do.
    const isEarlierLonger =
      held === lock && this.#vanished && this.#expiryOf(this.#vanished.lock) > this.#expiryOf(lock);
    if (isEarlierLonger) return;
    if (held && (knownTo || held === lock)) this.#vanished = { lock: held, atMs: this.#now(), knownTo };
  }

  committed(before: StoredLock | undefined, after: StoredLock): void {
    const { writer, record } = after;
    if (writer === undefined) return;
    this.#checkAnnotations(before, after, writer);
    if (record.holderIdentity === "") this.#checkRelease(before, after, writer);
    else {
      this.#lastCommitMs.set(writer, after.committedMs);
      const isRenewal =
        before?.writer === writer &&
        before.record.holderIdentity !== "" &&
        !this.#isRolledBack(before, writer);
      if (!isRenewal) {
        this.#checkAcquisition(before, writer);
        if (before) this.#checkOrders(before, writer);
      }
    }
    this.#wasVersionReused = false;
  }

  finished(isLed: boolean): void {
    if (!isLed && this.#readySinceMs.size > 0) {
      this.#violation("G4", "nobody leads long after the last fault, although a candidate is running");
    }
  }

  #checkAnnotations(before: StoredLock | undefined, after: StoredLock, writer: string): void {
    const kept = describe(before?.object.annotations ?? {});
    const written = describe(after.object.annotations);
    if (kept !== written && !this.#wasVersionReused)
      this.#violation("G3", `${writer} changed what others wrote from ${kept} to ${written}`);
  }

  #checkOrders(before: StoredLock, writer: string): void {
    const candidate = this.#candidates.get(writer);
    const { orders, record } = before;
    if (!orders || candidate?.kind !== "tenure" || this.#wasVersionReused) return;
    if (orders.paused) this.#violation("orders", `${writer} acquired the lock although it is paused`);
    const { transfer } = orders;
    const isToAnother =
      transfer?.accepted === true &&
      transfer.transitions === record.leaseTransitions &&
      !writer.startsWith(`${transfer.to}#`);
    if (!isToAnother) return;
    const isReleased = isRelease(record);
    const freeAtMs = isReleased ? before.committedMs : this.#expiryOf(before);
    const earlyMs = freeAtMs + candidate.leaseMs * minWait - this.#now();
    const isOwn = before.writer === writer;
    if (earlyMs > 0 && !isOwn)
      this.#violation(
        "orders",
        `${writer} acquired the lock ${Math.round(earlyMs)} ms too early for a transfer`,
      );
  }

  #checkRelease(before: StoredLock | undefined, after: StoredLock, writer: string): void {
    if (before?.writer === writer || this.#wasVersionReused) return;
    if (this.#candidates.get(writer)?.kind === "tenure") {
      this.#violation(
        "G3",
        `${writer} released a lock that ${before ? (before.writer ?? "a person") : "nobody"} had written`,
      );
    } else if (before && before.record.holderIdentity !== "")
      this.#excuseUntil(after.committedMs + this.#longestLeaseMs);
  }

  #checkAcquisition(before: StoredLock | undefined, writer: string): void {
    const now = this.#now();
    const isTenure = this.#candidates.get(writer)?.kind === "tenure";
    const vanished = this.#vanished;
    let freeAtMs: number;
    let shouldHaveKnown = !this.#wasVersionReused;
    const isOwn = before?.writer === writer && !this.#isRolledBack(before, writer);
    // A record that a process wrote since then counts instead of the one that vanished.
    const isReplaced =
      before?.writer !== undefined &&
      (before.record.holderIdentity !== "" || isRelease(before.record)) &&
      before.committedMs > (vanished?.atMs ?? Number.NEGATIVE_INFINITY);
    if (vanished && vanished.lock.writer !== writer && !isReplaced) {
      freeAtMs = this.#expiryOf(vanished.lock);
      const assumedLeaseMs = vanished.knownTo
        ? (vanished.knownTo.get(writer) ?? 0)
        : Number.POSITIVE_INFINITY;
      shouldHaveKnown &&= assumedLeaseMs >= this.#leaseOf(vanished.lock);
    } else if (before && before.record.holderIdentity !== "") freeAtMs = this.#expiryOf(before);
    else freeAtMs = before?.committedMs ?? Number.NEGATIVE_INFINITY;
    if (before && isOwn) freeAtMs = before.committedMs;

    if (now < freeAtMs) {
      if (isTenure && shouldHaveKnown) {
        this.#violation(
          "G1",
          `${writer} acquired the lock ${Math.round(freeAtMs - now)} ms before the lease of its holder expired`,
        );
      } else this.#excuseUntil(freeAtMs + this.#longestLeaseMs);
    } else if (before && !vanished && !isHeldBack(before)) this.#checkDelay(before, now, freeAtMs);
    if (now >= freeAtMs) this.#vanished = undefined;
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
    const checkedFromMs = freeAtMs - 2 * this.#longestLeaseMs;
    const wasWithoutFaults = !this.#hasActiveFault && this.#lastFaultMs < checkedFromMs;
    const someoneWasReady = [...this.#readySinceMs].some(
      ([id, since]) => since < checkedFromMs && id !== before.writer && !this.#silentlyWatching.has(id),
    );
    const driftMs = this.#longestLeaseMs * 0.02;
    if (!wasWithoutFaults || !someoneWasReady || now <= freeAtMs + maxDelayMs + driftMs) return;
    this.#violation(
      "G4",
      `the lock was free for ${Math.round(now - freeAtMs)} ms, without faults, before it was acquired`,
    );
  }

  #expiryOf(lock: StoredLock): number {
    return lock.committedMs + this.#leaseOf(lock) * minWait;
  }

  #leaseOf(lock: StoredLock): number {
    return (lock.record.leaseDurationSeconds ?? this.#longestLeaseMs / 1_000) * 1_000;
  }

  #excuseUntil(untilMs: number): void {
    this.#excusedUntilMs = Math.max(this.#excusedUntilMs, untilMs);
  }

  #violation(rule: Violation["rule"], message: string): void {
    this.violations.push({ rule, atMs: this.#now(), message });
  }
}
