/**
 * Checks a simulation in true time:
 *
 * G1  Two tenure processes never work at once. None works after its lease has expired. None acquires a lock while the
 *     lease of its holder has not expired.
 * G2  Tokens strictly increase.
 * G3  A process releases the lock only over its own record.
 * G4  Without faults, a free lock is acquired at once, and in the end somebody leads.
 *
 * A client-go process can break these rules: it works after its lease has expired, releases over another's record, and
 * acquires a deleted lock at once. For one lease after that, overlaps are counted separately, not as violations.
 */
import { isRelease } from "@tenure/core";
import type { StoredLock } from "./server.ts";

export interface Violation {
  readonly rule: "G1" | "G2" | "G3" | "G4";
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

export class Checker {
  readonly violations: Violation[] = [];
  readonly terms = { tenure: 0, clientGo: 0 };
  clientGoOverlaps = 0;

  readonly #now: () => number;
  readonly #longestLeaseMs: number;
  readonly #working = new Map<string, CheckedCandidate>();
  readonly #lastCommitMs = new Map<string, number>();
  readonly #kinds = new Map<string, CheckedCandidate["kind"]>();
  #highestToken = -1n;
  #excusedUntilMs = Number.NEGATIVE_INFINITY;
  /** The last held lock that was deleted or emptied by hand, and which processes can know its lease. undefined: all. */
  #vanished: { readonly lock: StoredLock; readonly knownTo: Knowers | undefined } | undefined;
  #lastFaultMs = 0;
  #readySinceMs = new Map<string, number>();

  /** @param longestLeaseMs of all candidates */
  constructor(now: () => number, longestLeaseMs: number) {
    this.#now = now;
    this.#longestLeaseMs = longestLeaseMs;
  }

  started(candidate: CheckedCandidate): void {
    this.#kinds.set(candidate.id, candidate.kind);
    if (candidate.kind === "tenure") this.#readySinceMs.set(candidate.id, this.#now());
  }

  /** The process does not campaign: it is dead, stopping, or in its cooldown. */
  unready(id: string): void {
    this.#readySinceMs.delete(id);
  }

  ready(id: string): void {
    this.#readySinceMs.set(id, this.#now());
  }

  /** A fault begins or ends. For some time, a free lock need not be acquired at once. */
  faultChanged(): void {
    this.#lastFaultMs = this.#now();
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

  /**
   * A person deletes the lock. A process that has not seen it cannot know that its holder may still be working. A process
   * that has seen it may not have seen its last holder. It then assumes the longest lease that it has seen or has itself.
   */
  deleted(lock: StoredLock, knownTo: Knowers): void {
    if (lock.record.holderIdentity !== "") this.#vanished = { lock, knownTo };
    else if (this.#vanished) this.#vanished = { lock: this.#vanished.lock, knownTo };
  }

  /** A person empties the holder. Every process can see that in the record. */
  emptied(lock: StoredLock): void {
    if (lock.record.holderIdentity !== "") this.#vanished = { lock, knownTo: undefined };
  }

  committed(before: StoredLock | undefined, after: StoredLock): void {
    const { writer, record } = after;
    if (writer === undefined) return;
    if (record.holderIdentity === "") this.#checkRelease(before, after, writer);
    else {
      this.#lastCommitMs.set(writer, after.committedMs);
      if (before?.writer !== writer || before.record.holderIdentity === "")
        this.#checkAcquisition(before, writer);
    }
  }

  finished(isLed: boolean): void {
    if (!isLed && this.#readySinceMs.size > 0) {
      this.#violation("G4", "nobody leads long after the last fault, although a candidate is running");
    }
  }

  #checkRelease(before: StoredLock | undefined, after: StoredLock, writer: string): void {
    if (before?.writer === writer) return;
    if (this.#kinds.get(writer) === "tenure") {
      this.#violation(
        "G3",
        `${writer} released a lock that ${before ? (before.writer ?? "a person") : "nobody"} had written`,
      );
    } else if (before && before.record.holderIdentity !== "")
      this.#excuseUntil(after.committedMs + this.#longestLeaseMs);
  }

  #checkAcquisition(before: StoredLock | undefined, writer: string): void {
    const now = this.#now();
    const isTenure = this.#kinds.get(writer) === "tenure";
    const vanished = this.#vanished;
    let freeAtMs: number;
    let shouldHaveKnown = true;
    if (before && before.record.holderIdentity !== "") freeAtMs = this.#expiryOf(before);
    else if (
      vanished &&
      vanished.lock.writer !== writer &&
      !(before && isRelease(before.record) && before.writer)
    ) {
      freeAtMs = this.#expiryOf(vanished.lock);
      const assumedLeaseMs = vanished.knownTo
        ? (vanished.knownTo.get(writer) ?? 0)
        : Number.POSITIVE_INFINITY;
      shouldHaveKnown = assumedLeaseMs >= this.#leaseOf(vanished.lock);
    } else freeAtMs = before?.committedMs ?? Number.NEGATIVE_INFINITY;
    if (before?.writer === writer) freeAtMs = before.committedMs;

    if (now < freeAtMs) {
      if (isTenure && shouldHaveKnown) {
        this.#violation(
          "G1",
          `${writer} acquired the lock ${Math.round(freeAtMs - now)} ms before the lease of its holder expired`,
        );
      } else this.#excuseUntil(freeAtMs + this.#longestLeaseMs);
    } else if (before && !vanished) this.#checkDelay(before, now, freeAtMs);
    if (now >= freeAtMs) this.#vanished = undefined;
  }

  #checkDelay(before: StoredLock, now: number, freeAtMs: number): void {
    const checkedFromMs = freeAtMs - 2 * this.#longestLeaseMs;
    const wasWithoutFaults = this.#lastFaultMs < checkedFromMs;
    const someoneWasReady = [...this.#readySinceMs].some(
      ([id, since]) => since < checkedFromMs && id !== before.writer,
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
