/**
 * Runs the work of one member: a function for each shard or permit that it owns. G1, as far as a library can guarantee it: the
 * work is told to stop in time, `term.isValid()` asks the clock, and work that still runs at the hard deadline ends with the process.
 */
import { asError, type Clock, onAbort, systemClock, systemRandom, warn } from "@tenure/base";
import type { Config, EndReason, Failure, SetConfig, SetState } from "@tenure/core";
import { ElectionError, overrunMessage } from "../errors.ts";
import type { Health } from "../health.ts";
import { endProcess } from "../platform.ts";
import { serveTerm } from "../serve-term.ts";
import { Term } from "../term.ts";
import { setHealthOf } from "./set-health.ts";
import { type MemberNotice, SetMember } from "./set-member.ts";
import type { SetMetrics } from "./set-metrics.ts";
import type { SetOptions } from "./set-options.ts";
import type { SetStore } from "./set-store.ts";

export type SetWork = (index: number, count: number, term: Term) => unknown;

export interface SetRunParts {
  readonly lease: Config;
  readonly set: SetConfig;
  readonly store: SetStore;
  /** What a shard is called. */
  readonly noun: "shard" | "permit";
  readonly options: SetOptions;
  readonly onStarted: (index: number, count: number, term: Term) => void;
  readonly onEnded: (index: number, term: Term, reason: EndReason) => void;
  readonly onOverrun: (index: number, term: Term) => void;
  readonly onRenewed: (index: number, term: Term) => void;
  readonly onAssignment: () => void;
  /** Returns whether somebody heard of it. */
  readonly onError: (error: Error, failure?: Failure) => boolean;
}

interface Served {
  readonly index: number;
  /** The token of the term as the number that the state machine knows. */
  readonly revision: bigint;
  readonly term: Term;
  readonly startedMs: number;
  /** When the work was asked to stop, on purpose. */
  askedToStopMs?: number;
  isWorking: boolean;
  /** False once another member may be working. */
  isAllowed: boolean;
}

interface Run {
  readonly work: SetWork;
  readonly startedMs: number;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

export class SetRun {
  readonly #parts: SetRunParts;
  readonly #clock: Clock;
  readonly #served = new Map<number, Served>();
  #member: SetMember | undefined;
  #run: Run | undefined;

  constructor(parts: SetRunParts) {
    this.#parts = parts;
    this.#clock = parts.options.clock ?? systemClock;
  }

  get state(): SetState | undefined {
    return this.#member?.state;
  }

  get terms(): ReadonlyMap<number, Term> {
    return new Map([...this.#served].map(([index, { term }]) => [index, term]));
  }

  health(): Health {
    if (!this.#run) return { healthy: true, message: "not running" };
    const { lease, set, store, noun } = this.#parts;
    return setHealthOf({
      nowMs: this.#clock.now().monoMs,
      leaseDurationMs: lease.timings.leaseDurationMs,
      stopTimeoutMs: set.drainTimeoutMs,
      set: store.description,
      lastContactMs: Math.max(this.#member?.lastContactMs() ?? 0, this.#run.startedMs),
      noun,
      work: [...this.#served.values()]
        .filter(({ isWorking }) => isWorking)
        .map(({ index, term, askedToStopMs }) => ({ index, isValid: term.isValid(), askedToStopMs })),
    });
  }

  stepDown(index: number): void {
    this.#member?.stepDown(index);
  }

  async run(work: SetWork, signal: AbortSignal | undefined): Promise<void> {
    const { store } = this.#parts;
    if (this.#run) {
      throw new ElectionError(
        "AlreadyRunning",
        `Cannot run the ${store.description}: it is already running. Wait until the first run ends.`,
      );
    }
    if (signal?.aborted) return;
    let stop = () => {};
    const aborted = new Promise<"aborted">((resolve) => {
      stop = () => resolve("aborted");
    });
    const done = new Promise<void>((resolve, reject) => {
      this.#run = { work, startedMs: this.#clock.now().monoMs, resolve, reject };
    });
    const stopListening = signal && onAbort(signal, () => stop());
    try {
      // Credentials may take a minute to appear. A run that is asked to end does not wait for them.
      if ((await Promise.race([store.prepare(), aborted])) === "aborted") return;
      const member = this.#newMember();
      this.#member = member;
      stop = () => member.stop();
      member.start();
      if (signal?.aborted) stop();
      await done;
    } finally {
      stopListening?.();
      this.#run = undefined;
    }
  }

  #newMember(): SetMember {
    const { lease, set, store, options } = this.#parts;
    const { random = systemRandom } = options;
    return new SetMember({
      lease,
      set,
      store,
      clock: this.#clock,
      random,
      onNotice: (notice) => this.#onNotice(notice),
    });
  }

  #onNotice(notice: MemberNotice): void {
    switch (notice.type) {
      case "shard-started":
        this.#start(notice.shard, notice.count, notice.token);
        return;
      case "shard-ending": {
        const served = this.#served.get(notice.shard);
        if (served) served.askedToStopMs = this.#clock.now().monoMs;
        served?.term.abort(notice.reason);
        return;
      }
      case "shard-lost": {
        const served = this.#served.get(notice.shard);
        if (served && notice.expired) served.isAllowed = false;
        served?.term.lose(notice.reason);
        if (notice.expired) served?.term.expire();
        return;
      }
      case "shard-ended":
        this.#end(notice.shard, notice.reason);
        return;
      case "renewed":
        for (const { index, term } of this.#served.values()) this.#parts.onRenewed(index, term);
        return;
      case "expired":
        for (const { term } of this.#served.values()) term.expire();
        return;
      case "overrun":
        this.#overrun([notice.shard], stopTimeoutMessage(this.#parts.store.description, notice.shard));
        return;
      case "hard-deadline":
        this.#overrun(
          [...this.#served.keys()],
          overrunMessage(`the member lease of ${this.#parts.store.description}`),
        );
        return;
      case "assignment-changed":
        this.#parts.onAssignment();
        return;
      case "failed":
        this.#onFailure(notice.during, notice.failure);
        return;
      case "refused":
        this.#run?.reject(
          new ElectionError(
            notice.reason === "denied" ? "Denied" : "DuplicateIdentity",
            `Cannot take part in ${this.#parts.store.description}: ${notice.message}.`,
          ),
        );
        return;
      case "stopped":
        this.#run?.resolve();
        return;
    }
  }

  #start(index: number, count: number, token: bigint): void {
    const run = this.#run;
    const member = this.#member;
    if (!run || !member) return;
    const validUntil = () => (served.isAllowed ? member.validUntil() : undefined);
    const term = new Term(this.#parts.lease.identity, token, this.#clock, validUntil);
    const startedMs = this.#clock.now().monoMs;
    const served: Served = { index, revision: token, term, startedMs, isWorking: true, isAllowed: true };
    this.#served.set(index, served);
    this.#report((metrics) => metrics.owning?.(this.#served.size));
    this.#report((metrics) => metrics.termStarted?.(index));
    this.#parts.onStarted(index, count, term);
    void this.#runWork(run, member, served, count);
  }

  async #runWork(run: Run, member: SetMember, served: Served, count: number): Promise<void> {
    const { index, term } = served;
    await serveTerm(term, (of) => run.work(index, count, of), {
      onError: (error) => {
        if (!this.#parts.onError(asError(error))) warn(asError(error));
      },
      // Tasks of the term still run: they may take their time, but not for ever.
      onTasksLeft: () => member.stepDown(index),
    });
    served.isWorking = false;
    member.workStopped(index, served.revision);
  }

  #end(index: number, reason: EndReason): void {
    const served = this.#served.get(index);
    if (!served) return;
    this.#served.delete(index);
    const servedMs = this.#clock.now().monoMs - served.startedMs;
    this.#report((metrics) => metrics.owning?.(this.#served.size));
    this.#report((metrics) => metrics.termEnded?.(index, reason, servedMs));
    this.#parts.onEnded(index, served.term, reason);
  }

  #overrun(indexes: readonly number[], message: string): void {
    const overrun = indexes.map((index) => this.#served.get(index)).filter((served) => served?.isWorking);
    for (const served of overrun) if (served) this.#parts.onOverrun(served.index, served.term);
    if (overrun.length > 0 && (this.#parts.options.onOverrun ?? "exit") === "exit") endProcess(message);
  }

  /** An error in the metrics becomes a warning and does not affect the run. */
  #report(call: (metrics: SetMetrics) => void): void {
    try {
      if (this.#parts.options.metrics) call(this.#parts.options.metrics);
    } catch (error) {
      warn(asError(error));
    }
  }

  #onFailure(during: (MemberNotice & { type: "failed" })["during"], failure: Failure): void {
    this.#report((metrics) => metrics.requestFailed?.(during, failure.kind));
    const error = new Error(`Cannot ${during} ${this.#parts.store.description}: ${failure.message}`);
    this.#parts.onError(error, failure);
  }
}

function stopTimeoutMessage(set: string, index: number): string {
  return (
    `tenure: the work of ${index} of ${set} was asked to stop and has not stopped within stopTimeout. Ending the process, so that ` +
    "another replica can take over. Make the work stop when term.signal aborts, or allow it more time with stopTimeout."
  );
}
