/**
 * Leader election: exactly one of the N processes that run the same election runs its work.
 *
 * G1, as far as a library can guarantee it: the work is told to stop in time, `term.isValid()` asks the clock, and work that
 * still runs at the hard deadline ends with the process (`onOverrun`). G4: a candidate that loses keeps campaigning.
 *
 * Not guaranteed: code that does not call `term.isValid()` may still run for a moment after the process was paused. Storage that
 * checks `term.token` rejects its writes (G2).
 */
import {
  asError,
  type Clock,
  Emitter,
  isAbortOf,
  onAbort,
  type Problem,
  readDuration,
  systemClock,
  systemRandom,
  warn,
} from "@tenure/base";
import type { Config, EndReason, Failure, RequestKind } from "@tenure/core";
import { Candidate, type CandidateHandle, type Notice } from "./candidate.ts";
import { ElectionError, invalidOptions, overrunMessage } from "./errors.ts";
import type { ElectionEvents } from "./events.ts";
import { type Health, healthOf } from "./health.ts";
import { report } from "./metrics.ts";
import { checkOptions, type ElectionOptions, type RunOptions, type Work } from "./options.ts";
import { endProcess } from "./platform.ts";
import { Term } from "./term.ts";

interface Run {
  readonly work: Work;
  readonly once: boolean;
  readonly startedMs: number;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
  workError?: { readonly error: unknown };
}

interface ServedTerm {
  readonly term: Term;
  readonly startedMs: number;
  /** Whether the work has not stopped yet. */
  isWorking: boolean;
  /** When the work was asked to stop because its term ends on purpose. */
  askedToStopMs?: number;
  onWorkStopped?: () => void;
}

export class Election {
  readonly identity: string;
  readonly #options: ElectionOptions;
  readonly #config: Config;
  readonly #clock: Clock;
  readonly #events = new Emitter<ElectionEvents>((error) => warn(asError(error)));
  #candidate: CandidateHandle | undefined;
  #run: Run | undefined;
  #served: ServedTerm | undefined;

  constructor(options: ElectionOptions) {
    this.#options = options;
    this.#config = checkOptions(options);
    this.#clock = options.clock ?? systemClock;
    this.identity = this.#config.identity;
  }

  /** The identity of the current leader as far as this candidate knows; undefined if no lease is in force. */
  get leader(): string | undefined {
    return this.#candidate?.leader();
  }

  /** The term of this process; undefined while it does not lead. */
  get term(): Term | undefined {
    return this.#served?.term;
  }

  /** Adds a listener. The returned function removes it. */
  on<Name extends keyof ElectionEvents>(
    name: Name,
    listener: (event: ElectionEvents[Name]) => void,
  ): () => void {
    return this.#events.on(name, listener);
  }

  /**
   * Campaigns, runs `work` while this process leads, and campaigns again after every term, until the signal aborts.
   * A term ends when the work returns or throws, when `stepDown` is called, or when the term is lost.
   */
  async run(work: Work, { signal, once = false }: RunOptions = {}): Promise<void> {
    if (this.#run)
      throw new ElectionError(
        "AlreadyRunning",
        "Cannot run the election: it is already running. Wait until the first run ends.",
      );
    if (signal?.aborted) return;
    let stop = () => {};
    const aborted = new Promise<undefined>((resolve) => {
      stop = () => resolve(undefined);
    });
    const done = new Promise<void>((resolve, reject) => {
      this.#run = { work, once, startedMs: this.#clock.now().monoMs, resolve, reject };
    });
    const stopListening = signal && onAbort(signal, () => stop());
    try {
      // Credentials may take a minute to appear. A run that is asked to end does not wait for them.
      const candidate = await Promise.race([this.#prepare(signal), aborted]);
      if (!candidate) return;
      stop = () => candidate.send({ type: "stop" });
      candidate.send({ type: "start" });
      if (signal?.aborted) stop();
      await done;
    } finally {
      stopListening?.();
      this.#run = undefined;
    }
  }

  /**
   * Gives up leadership on purpose. The work is asked to stop while the lease is still renewed, then the lock is released, and
   * this candidate does not campaign during the cool-down. Has no effect if this process does not lead.
   */
  stepDown({ cooldown }: { readonly cooldown?: string } = {}): void {
    const problems: Problem[] = [];
    const cooldownMs =
      cooldown === undefined
        ? this.#config.cooldownMs
        : readDuration("cooldown", cooldown, problems, { mayBeZero: true });
    if (cooldownMs === undefined) throw invalidOptions("step down", problems);
    this.#candidate?.send({ type: "step-down", cooldownMs });
  }

  /** Unhealthy if the work goes on after its time is over, or if the candidate has no connection to the lock. */
  health(): Health {
    if (!this.#run || !this.#candidate) return { healthy: true, message: "not running" };
    const { term, isWorking, askedToStopMs } = this.#served ?? {};
    return healthOf({
      nowMs: this.#clock.now().monoMs,
      config: this.#config,
      lock: this.#options.lock.description,
      lastContactMs: Math.max(this.#candidate.lastContactMs(), this.#run.startedMs),
      work: term && isWorking ? { isValid: term.isValid(), askedToStopMs } : undefined,
    });
  }

  async #prepare(signal: AbortSignal | undefined): Promise<CandidateHandle | undefined> {
    await this.#options.lock.prepare?.();
    if (signal?.aborted) return undefined;
    const candidate = this.#candidate ?? (await this.#newCandidate(signal));
    // Not if it is undefined: a later run may have set its own candidate meanwhile.
    if (candidate) this.#candidate = candidate;
    return candidate;
  }

  async #newCandidate(signal: AbortSignal | undefined): Promise<CandidateHandle | undefined> {
    const { lock, random = systemRandom, worker = false, onOverrun = "exit", startThread } = this.#options;
    const config = this.#config;
    const onNotice = (notice: Notice) => this.#onNotice(notice);
    if (!worker || !lock.spec) return new Candidate({ config, lock, clock: this.#clock, random, onNotice });
    const { WorkerCandidate } = await import("./worker/worker-candidate.ts");
    // The run has ended meanwhile. Nobody would stop the thread, and it would keep the process alive.
    if (signal?.aborted) return undefined;
    return new WorkerCandidate({
      config,
      lock: lock.spec,
      endOnOverrun: onOverrun === "exit",
      startThread,
      onNotice,
      onError: (error) => this.#onWorkerDied(error),
    });
  }

  #onNotice(notice: Notice): void {
    switch (notice.type) {
      case "term-started":
        this.#startTerm(notice.token);
        return;
      case "renewed":
        if (this.#served) this.#events.emit("renewed", this.#served);
        return;
      case "term-ending":
        if (this.#served) this.#served.askedToStopMs = this.#clock.now().monoMs;
        this.#served?.term.abort(notice.reason);
        return;
      case "term-lost":
        this.#served?.term.lose(notice.reason);
        return;
      case "term-expired":
        this.#served?.term.expire();
        return;
      case "overrun":
        this.#onOverrun();
        return;
      case "term-ended":
        this.#endTerm(notice.reason, notice.released);
        return;
      case "leader-changed":
        this.#events.emit("leader-changed", { leader: notice.leader });
        return;
      case "answered":
        report(this.#options.metrics, (metrics) => metrics.request?.(notice.during, notice.tookMs));
        return;
      case "failed":
        this.#onFailure(notice.during, notice.failure);
        return;
      case "watch-failed":
        this.#onFailure("watch", notice.failure);
        return;
      case "refused":
        this.#onRefused(notice.reason, notice.message);
        return;
      case "stopped":
        this.#onStopped();
        return;
    }
  }

  #startTerm(token: bigint): void {
    const run = this.#run;
    const candidate = this.#candidate;
    if (!run || !candidate) return;
    const term = new Term(this.identity, token, this.#clock, () => candidate.validUntil());
    const served: ServedTerm = { term, startedMs: this.#clock.now().monoMs, isWorking: true };
    this.#served = served;
    report(this.#options.metrics, (metrics) => metrics.leading?.(true));
    report(this.#options.metrics, (metrics) => metrics.termStarted?.());
    this.#announce("became leader");
    this.#events.emit("term-started", { term });
    void this.#runWork(run, served);
  }

  async #runWork(run: Run, served: ServedTerm): Promise<void> {
    const { term } = served;
    // The remaining notices of this step, such as the new leader, come before the work starts.
    await undefined;
    try {
      // The process may have been frozen since the term was won.
      if (!term.signal.aborted && term.isValid()) await run.work(term);
    } catch (error) {
      if (!isAbortOf(term.signal, error)) this.#onWorkError(run, error);
    } finally {
      this.#onWorkStopped(run, served);
    }
  }

  #onWorkStopped(run: Run, served: ServedTerm): void {
    const { term } = served;
    term.close();
    served.isWorking = false;
    const endedByItself = !term.signal.aborted;
    if (endedByItself) term.abort("work-ended");
    // With `once` the candidate stops after this term. If the term ended for another reason, "stop" comes first, so that the
    // candidate does not campaign again. If the work ended it, "stop" comes last, so that the reason is not "shutdown".
    if (run.once && !endedByItself) this.#candidate?.send({ type: "stop" });
    this.#candidate?.send({ type: "work-stopped", cooldownMs: this.#config.cooldownMs });
    if (run.once && endedByItself) this.#candidate?.send({ type: "stop" });
    served.onWorkStopped?.();
  }

  #onWorkError(run: Run, error: unknown): void {
    if (run.once) run.workError = { error };
    else if (this.#events.has("error")) this.#events.emit("error", { error: asError(error) });
    else warn(asError(error));
  }

  #endTerm(reason: EndReason, released: boolean): void {
    const served = this.#served;
    if (!served) return;
    this.#served = undefined;
    const servedMs = this.#clock.now().monoMs - served.startedMs;
    report(this.#options.metrics, (metrics) => metrics.leading?.(false));
    report(this.#options.metrics, (metrics) => metrics.termEnded?.(reason, servedMs));
    this.#announce("stopped leading");
    this.#events.emit("term-ended", { term: served.term, reason, released });
  }

  #onOverrun(): void {
    if (this.#served) this.#events.emit("overrun", this.#served);
    if ((this.#options.onOverrun ?? "exit") === "exit")
      endProcess(overrunMessage(this.#options.lock.description));
  }

  #onFailure(during: RequestKind | "watch", failure: Failure): void {
    report(this.#options.metrics, (metrics) => metrics.requestFailed?.(during, failure.kind));
    const what = during === "accept" ? "accept the transfer of" : during;
    const error = new Error(`Cannot ${what} ${this.#options.lock.description}: ${failure.message}`);
    this.#events.emit("error", { error, failure });
  }

  #onRefused(reason: "duplicate-identity" | "denied", message: string): void {
    const code = reason === "denied" ? "Denied" : "DuplicateIdentity";
    this.#run?.reject(
      new ElectionError(
        code,
        `Cannot take part in the election of ${this.#options.lock.description}: ${message}.`,
      ),
    );
    this.#discardWorker();
  }

  #onStopped(): void {
    const run = this.#run;
    this.#discardWorker();
    if (run?.workError) run.reject(run.workError.error);
    else run?.resolve();
  }

  /** A worker thread serves one run. A candidate in this thread is kept, with its knowledge of the lock, for the next run. */
  #discardWorker(): void {
    if (this.#options.worker) this.#candidate = undefined;
  }

  /** The thread no longer renews the lease, nor does it enforce the hard deadline. This method takes over the deadline. */
  #onWorkerDied(cause: Error): void {
    const error = new ElectionError("WorkerFailed", `The thread of the election died: ${cause.message}`, {
      cause,
    });
    const served = this.#served;
    const end = () => {
      this.#endTerm("renew-deadline", false);
      this.#run?.reject(error);
    };
    this.#discardWorker();
    if (!served?.isWorking) {
      end();
      return;
    }
    served.term.lose("renew-deadline");
    const deadlineMs = this.#clock.now().monoMs + served.term.remainingMs();
    const cancelDeadline = this.#clock.at(deadlineMs, () => {
      served.term.expire();
      this.#onOverrun();
    });
    served.onWorkStopped = () => {
      cancelDeadline();
      end();
    };
  }

  #announce(what: string): void {
    const { lock, announce = false } = this.#options;
    if (!announce) return;
    const announcing = async () =>
      lock.announce?.(`${this.identity} ${what}`, undefined, new AbortController().signal);
    announcing().catch((error) => this.#events.emit("error", { error: asError(error) }));
  }
}
