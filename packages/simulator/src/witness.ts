/**
 * Sees everything, in true time, and says what went wrong.
 *
 * G1  two of ours never work at once; none works longer than its lease in the lock lasts; none takes a lock whose holder
 *     still has time.
 * G2  tokens strictly increase.
 * G3  a lock is only released over the releaser's own record.
 * G4  in calm times a lock is taken at the moment that it may be, and at the end somebody leads.
 *
 * What only a client-go candidate can cause (overstaying its lease, releasing over another's record, taking a deleted
 * lock at once) is counted apart, and for one lease afterwards overlaps are put down to it.
 */
import { isRelease } from "@tenure/core";
import type { StoredLock } from "./server.ts";

export interface Violation {
  readonly rule: "G1" | "G2" | "G3" | "G4";
  readonly atMs: number;
  readonly message: string;
}

export interface Worker {
  readonly id: string;
  readonly kind: "tenure" | "client-go";
}

/** Two machines' clocks differ by at most 1 %; a wait of one lease is at least this much of one in true time. */
const shortestWait = 0.99;
/** Latency, stagger and a round trip more, in calm times. */
const promptMs = 100;

export class Witness {
  readonly violations: Violation[] = [];
  readonly terms = { tenure: 0, clientGo: 0 };
  apart = 0;

  readonly #now: () => number;
  readonly #leaseMs: number;
  readonly #working = new Map<string, Worker>();
  readonly #lastCommitMs = new Map<string, number>();
  readonly #kinds = new Map<string, Worker["kind"]>();
  #highestToken = -1n;
  #blurredUntilMs = Number.NEGATIVE_INFINITY;
  /** The lock that was deleted or emptied by hand, and who knew that it was held. */
  #vanished:
    | { readonly lock: StoredLock; readonly knownTo: ReadonlySet<string | undefined> | undefined }
    | undefined;
  #disturbedMs = 0;
  #readySinceMs = new Map<string, number>();

  constructor(now: () => number, leaseMs: number) {
    this.#now = now;
    this.#leaseMs = leaseMs;
  }

  started(worker: Worker): void {
    this.#kinds.set(worker.id, worker.kind);
    if (worker.kind === "tenure") this.#readySinceMs.set(worker.id, this.#now());
  }

  /** Not a candidate at the moment: dead, leaving, or cooling down after stepping down. */
  unready(id: string): void {
    this.#readySinceMs.delete(id);
  }

  ready(id: string): void {
    this.#readySinceMs.set(id, this.#now());
  }

  /** A fault is or was at work until now: promptness is not asked for. */
  disturbed(): void {
    this.#disturbedMs = this.#now();
  }

  termStarted(worker: Worker, token: bigint | undefined): void {
    if (worker.kind === "tenure") this.terms.tenure += 1;
    else this.terms.clientGo += 1;
    if (token === undefined) return;
    if (token <= this.#highestToken) {
      this.#violation(
        "G2",
        `${worker.id} got token ${token} after token ${this.#highestToken} had been given`,
      );
    }
    this.#highestToken = token > this.#highestToken ? token : this.#highestToken;
  }

  workStarted(worker: Worker): void {
    for (const other of this.#working.values()) {
      if (other.id === worker.id) continue;
      const areOurs = other.kind === "tenure" && worker.kind === "tenure";
      if (areOurs && this.#now() > this.#blurredUntilMs) {
        this.#violation("G1", `${worker.id} started to work while ${other.id} was working`);
      } else this.apart += 1;
    }
    this.#working.set(worker.id, worker);
  }

  workStopped(worker: Worker): void {
    if (!this.#working.delete(worker.id) || worker.kind !== "tenure") return;
    const lastMs = this.#lastCommitMs.get(worker.id) ?? Number.NEGATIVE_INFINITY;
    const overMs = this.#now() - (lastMs + this.#leaseMs);
    if (overMs > 0) {
      this.#violation("G1", `${worker.id} worked for ${Math.round(overMs)} ms after its lease had run out`);
    }
  }

  /** A person deleted the lock. Who did not know it cannot know that its last holder may still be working. */
  deleted(lock: StoredLock, knownTo: ReadonlySet<string | undefined>): void {
    if (lock.record.holderIdentity !== "") this.#vanished = { lock, knownTo };
    else if (this.#vanished) this.#vanished = { lock: this.#vanished.lock, knownTo };
  }

  /** A person emptied the holder; the record shows it to everybody. */
  emptied(lock: StoredLock): void {
    if (lock.record.holderIdentity !== "") this.#vanished = { lock, knownTo: undefined };
  }

  committed(before: StoredLock | undefined, after: StoredLock): void {
    const { writer, record } = after;
    if (writer === undefined) return;
    if (record.holderIdentity === "") this.#checkRelease(before, after, writer);
    else {
      this.#lastCommitMs.set(writer, after.committedMs);
      if (before?.writer !== writer || before.record.holderIdentity === "") this.#checkTaking(before, writer);
    }
  }

  finished(isLed: boolean): void {
    if (!isLed && this.#readySinceMs.size > 0) {
      this.#violation("G4", "nobody leads after a long calm although a candidate is there");
    }
  }

  #checkRelease(before: StoredLock | undefined, after: StoredLock, writer: string): void {
    if (before?.writer === writer) return;
    if (this.#kinds.get(writer) === "tenure") {
      this.#violation("G3", `${writer} released a lock that ${before?.writer ?? "nobody"} had written`);
    } else if (before && before.record.holderIdentity !== "") this.#blur(after.committedMs + this.#leaseMs);
  }

  #checkTaking(before: StoredLock | undefined, writer: string): void {
    const now = this.#now();
    const isOurs = this.#kinds.get(writer) === "tenure";
    const vanished = this.#vanished;
    let mayTakeMs: number;
    let shouldHaveKnown = true;
    if (before && before.record.holderIdentity !== "") mayTakeMs = this.#endOf(before);
    else if (
      vanished &&
      vanished.lock.writer !== writer &&
      !(before && isRelease(before.record) && before.writer)
    ) {
      mayTakeMs = this.#endOf(vanished.lock);
      shouldHaveKnown = vanished.knownTo?.has(writer) ?? true;
    } else mayTakeMs = before?.committedMs ?? Number.NEGATIVE_INFINITY;
    if (before?.writer === writer) mayTakeMs = before.committedMs;

    if (now < mayTakeMs) {
      if (isOurs && shouldHaveKnown) {
        this.#violation(
          "G1",
          `${writer} took the lock ${Math.round(mayTakeMs - now)} ms before its holder's time was over`,
        );
      } else this.#blur(mayTakeMs + this.#leaseMs);
    } else if (before && !vanished) this.#checkPromptness(before, now, mayTakeMs);
    if (now >= mayTakeMs) this.#vanished = undefined;
  }

  #checkPromptness(before: StoredLock, now: number, mayTakeMs: number): void {
    const calmFromMs = mayTakeMs - 2 * this.#leaseMs;
    const wasCalm = this.#disturbedMs < calmFromMs;
    const someoneWasReady = [...this.#readySinceMs].some(
      ([id, since]) => since < calmFromMs && id !== before.writer,
    );
    const driftMs = this.#leaseMs * 0.02;
    if (!wasCalm || !someoneWasReady || now <= mayTakeMs + promptMs + driftMs) return;
    this.#violation(
      "G4",
      `the lock was free for ${Math.round(now - mayTakeMs)} ms in calm times before it was taken`,
    );
  }

  #endOf(lock: StoredLock): number {
    const leaseMs = (lock.record.leaseDurationSeconds ?? this.#leaseMs / 1_000) * 1_000;
    return lock.committedMs + leaseMs * shortestWait;
  }

  #blur(untilMs: number): void {
    this.#blurredUntilMs = Math.max(this.#blurredUntilMs, untilMs);
  }

  #violation(rule: Violation["rule"], message: string): void {
    this.violations.push({ rule, atMs: this.#now(), message });
  }
}
