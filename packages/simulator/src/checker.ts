/**
 * Checks a simulation in true time:
 *
 * G1  Two tenure processes never work at once. None works after its lease has expired. None acquires a lock while the
 *     lease of its holder has not expired.
 * G2  Tokens strictly increase.
 * G3  A process releases the lock only over its own record. It drops nothing from the object that others wrote.
 * G4  Without faults, a free lock is acquired at once, and in the end somebody leads.
 *
 * Orders of an operator are followed: nobody acquires a paused lock, and during a transfer only the chosen candidate.
 *
 * A client-go process can break these rules: it works after its lease has expired, releases over another's record, and
 * acquires a deleted lock at once. For one lease after that, overlaps are counted separately, not as violations.
 */
import { LockChecker } from "./lock-checker.ts";
import { type Check, type CheckedCandidate, checks, type Violation } from "./violation.ts";

export class Checker {
  readonly violations: Violation[] = [];
  readonly terms = { tenure: 0, clientGo: 0 };
  clientGoOverlaps = 0;

  readonly now: () => number;
  readonly longestLeaseMs: number;
  readonly #working = new Map<string, CheckedCandidate>();
  readonly #locks: LockChecker[] = [];
  readonly #candidates = new Map<string, CheckedCandidate>();
  readonly #silentlyWatching = new Set<string>();
  #highestToken = -1n;
  #excusedUntilMs = Number.NEGATIVE_INFINITY;
  #lastFaultMs = 0;
  #hasActiveFault = false;
  #readySinceMs = new Map<string, number>();

  /** @param longestLeaseMs of all candidates */
  constructor(now: () => number, longestLeaseMs: number) {
    this.now = now;
    this.longestLeaseMs = longestLeaseMs;
  }

  /**
   * A checker for one lock object. In a migration there are two, and each is a lock of its own.
   * @param hasOtherTransfer whether a transfer in the other object counts instead of the one in this object
   */
  newLock(hasOtherTransfer: () => boolean = () => false): LockChecker {
    const lock = new LockChecker(this, () => this.#locks.length === 1, hasOtherTransfer);
    this.#locks.push(lock);
    return lock;
  }

  candidate(id: string): CheckedCandidate | undefined {
    return this.#candidates.get(id);
  }

  started(candidate: CheckedCandidate): void {
    this.#candidates.set(candidate.id, candidate);
    this.ready(candidate.id);
  }

  /** The process does not campaign: it is dead, stopping, or in its cooldown. */
  unready(id: string): void {
    this.#readySinceMs.delete(id);
  }

  /** The process campaigns. A free lock is acquired at once only by candidates of tenure with the highest priority. */
  ready(id: string): void {
    const { kind, mayHesitate } = this.#candidates.get(id) ?? {};
    if (kind === "tenure" && !mayHesitate) this.#readySinceMs.set(id, this.now());
  }

  /** A fault begins or ends. While one is active, and some time later, a free lock need not be acquired at once. */
  faultChanged(active: number): void {
    this.#lastFaultMs = this.now();
    this.#hasActiveFault = active > 0;
  }

  termStarted(candidate: CheckedCandidate, token: bigint | undefined): void {
    if (candidate.kind === "tenure") this.terms.tenure += 1;
    else this.terms.clientGo += 1;
    if (token === undefined) return;
    if (token <= this.#highestToken) {
      this.violation(
        "token",
        `${candidate.id} got token ${token}, but token ${this.#highestToken} was given before`,
      );
    }
    this.#highestToken = token > this.#highestToken ? token : this.#highestToken;
  }

  workStarted(candidate: CheckedCandidate): void {
    for (const other of this.#working.values()) {
      if (other.id === candidate.id) continue;
      const areBothTenure = other.kind === "tenure" && candidate.kind === "tenure";
      if (areBothTenure && this.now() > this.#excusedUntilMs) {
        this.violation("overlap", `${candidate.id} started to work while ${other.id} was working`);
      } else this.clientGoOverlaps += 1;
    }
    this.#working.set(candidate.id, candidate);
  }

  workStopped(candidate: CheckedCandidate): void {
    if (!this.#working.delete(candidate.id) || candidate.kind !== "tenure") return;
    // The right to work counts from the older of the two objects of a migration, and there is none without both.
    const commits = (candidate.objects ?? [0]).map((index) => this.#locks[index]?.lastCommitMs(candidate.id));
    if (commits.includes(undefined)) {
      this.violation("work-after-lease", `${candidate.id} worked without holding every object of its lock`);
      return;
    }
    const overMs = this.now() - (Math.min(...(commits as number[])) + candidate.leaseMs);
    if (overMs > 0) {
      this.violation(
        "work-after-lease",
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

  finished(isLed: boolean): void {
    if (!isLed && this.#readySinceMs.size > 0) {
      this.violation("no-leader", "nobody leads long after the last fault, although a candidate is running");
    }
  }

  /** Whether there were no faults since then, and a candidate other than this one could have acquired the lock. */
  wasAcquirableSince(sinceMs: number, except: string | undefined): boolean {
    if (this.#hasActiveFault || this.#lastFaultMs >= sinceMs) return false;
    return [...this.#readySinceMs].some(
      ([id, readySinceMs]) =>
        readySinceMs < sinceMs &&
        id !== except &&
        !this.#silentlyWatching.has(id) &&
        !this.#candidates.get(id)?.asksPlugin,
    );
  }

  /** Something happened that only a client-go candidate or a store that went back can cause. */
  excuseUntil(untilMs: number): void {
    this.#excusedUntilMs = Math.max(this.#excusedUntilMs, untilMs);
  }

  violation(check: Check, message: string): void {
    this.violations.push({ rule: checks[check], check, atMs: this.now(), message });
  }
}
