/**
 * Runs an election: it starts a candidate in this thread or in a worker thread, and serves the terms that the candidate wins.
 *
 * G1, as far as a library can guarantee it: the work is told to stop in time, the lease is released only after all work has
 * stopped, and work that still runs at the hard deadline ends with the process (`onOverrun`).
 */
import { asError, type Clock, type Emitter, onAbort, systemClock, systemRandom, warn } from "@tenure/base";
import type { Config, EndReason, Failure, RequestKind } from "@tenure/core";
import { Candidate, type CandidateHandle, type Notice } from "./candidate.ts";
import { ErrorReports } from "./error-reports.ts";
import { ElectionError, overrunMessage } from "./errors.ts";
import type { ElectionEvents } from "./events.ts";
import { type Health, healthOf } from "./health.ts";
import { report } from "./metrics.ts";
import type { ElectionOptions, RunOptions, Work } from "./options.ts";
import { endProcess } from "./platform.ts";
import { Presence } from "./presence.ts";
import { serveTerm } from "./serve-term.ts";
import { Term } from "./term.ts";

interface Run {
  readonly work: Work;
  readonly once: boolean;
  readonly startedMs: number;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
  /** Ends the run. */
  readonly stop: AbortController;
  /** Resolves when the run has ended. */
  readonly ended: Promise<void>;
  workError?: { readonly error: unknown };
}

interface ServedTerm {
  readonly term: Term;
  readonly startedMs: number;
  /** Whether a part of the work has not stopped yet. */
  isWorking: boolean;
  /** When the work was asked to stop because its term ends on purpose. */
  askedToStopMs?: number;
  onWorkStopped?: () => void;
}

export class Runner {
  readonly #options: ElectionOptions;
  readonly #config: Config;
  readonly #clock: Clock;
  readonly #events: Emitter<ElectionEvents>;
  readonly #errors: ErrorReports;
  readonly #presence: Presence;
  #candidate: CandidateHandle | undefined;
  /** Whether that candidate leads only if the API server names it. */
  #isCoordinated: boolean | undefined;
  #run: Run | undefined;
  #served: ServedTerm | undefined;

  constructor(options: ElectionOptions, config: Config, events: Emitter<ElectionEvents>) {
    this.#options = options;
    this.#config = config;
    this.#clock = options.clock ?? systemClock;
    this.#events = events;
    this.#errors = new ErrorReports(events, warn);
    const { random = systemRandom } = options;
    this.#presence = new Presence({ options, config, clock: this.#clock, random, errors: this.#errors });
  }

  get leader(): string | undefined {
    return this.#candidate?.leader();
  }

  get term(): Term | undefined {
    return this.#served?.term;
  }

  async run(work: Work, { signal, once = false }: RunOptions): Promise<void> {
    if (this.#run)
      throw new ElectionError(
        "AlreadyRunning",
        "Cannot run the election: it is already running. Wait until the first run ends.",
      );
    if (signal?.aborted) return;
    const stop = new AbortController();
    const aborted = new Promise<undefined>((resolve) => {
      stop.signal.addEventListener("abort", () => resolve(undefined), { once: true });
    });
    let end = () => {};
    const ended = new Promise<void>((resolve) => {
      end = resolve;
    });
    const done = new Promise<void>((resolve, reject) => {
      const startedMs = this.#clock.now().monoMs;
      this.#run = { work, once, startedMs, stop, ended, resolve, reject };
    });
    const stopListening = signal && onAbort(signal, () => stop.abort());
    try {
      // Credentials may take a minute to appear. A run that is asked to end does not wait for them.
      const candidate = await Promise.race([this.#prepare(stop.signal), aborted]);
      if (!candidate) return;
      const stopCandidate = () => this.#presence.beforeRelease(() => candidate.send({ type: "stop" }));
      this.#presence.start();
      candidate.send({ type: "start" });
      if (stop.signal.aborted) stopCandidate();
      else stop.signal.addEventListener("abort", stopCandidate, { once: true });
      await done;
    } finally {
      stopListening?.();
      // Not before the lock is released: a successor must not wait for it.
      if (this.#presence.needsStanding) await this.#presence.stop();
      this.#run = undefined;
      end();
    }
  }

  /** Ends the run, if there is one. Resolves when it has ended. */
  async stop(): Promise<void> {
    const run = this.#run;
    run?.stop.abort();
    await run?.ended;
  }

  stepDown(cooldownMs: number): void {
    this.#candidate?.send({ type: "step-down", cooldownMs });
  }

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

  async #prepare(signal: AbortSignal): Promise<CandidateHandle | undefined> {
    await this.#options.lock.prepare?.();
    if (signal.aborted) return undefined;
    const config = this.#options.coordinated ? await this.#presence.configure(signal) : this.#config;
    if (!config || signal.aborted) return undefined;
    const isKept = this.#candidate !== undefined && config.coordinated === this.#isCoordinated;
    const candidate = isKept ? this.#candidate : await this.#newCandidate(config, signal);
    this.#isCoordinated = config.coordinated;
    // Not if it is undefined: a later run may have set its own candidate meanwhile.
    if (candidate) this.#candidate = candidate;
    return candidate;
  }

  async #newCandidate(config: Config, signal: AbortSignal): Promise<CandidateHandle | undefined> {
    const { lock, random = systemRandom, worker = false, onOverrun = "exit", startThread } = this.#options;
    const onNotice = (notice: Notice) => this.#onNotice(notice);
    const reportsStanding = this.#presence.needsStanding;
    if (!worker || !lock.spec)
      return new Candidate({ config, lock, clock: this.#clock, random, onNotice, reportsStanding });
    const { WorkerCandidate } = await import("./worker/worker-candidate.ts");
    // The run has ended meanwhile. Nobody would stop the thread, and it would keep the process alive.
    if (signal.aborted) return undefined;
    return new WorkerCandidate({
      config,
      lock: lock.spec,
      endOnOverrun: onOverrun === "exit",
      reportsStanding,
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
        this.#presence.answered();
        report(this.#options.metrics, (metrics) => metrics.request?.(notice.during, notice.tookMs));
        return;
      case "failed":
        this.#onFailure(notice.during, notice.failure);
        return;
      case "watch-failed":
        this.#onFailure("watch", notice.failure);
        return;
      case "standing":
        this.#presence.standing(notice.standing);
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
    const term = new Term(this.#config.identity, token, this.#clock, () => candidate.validUntil());
    const served: ServedTerm = { term, startedMs: this.#clock.now().monoMs, isWorking: true };
    this.#served = served;
    report(this.#options.metrics, (metrics) => metrics.leading?.(true));
    report(this.#options.metrics, (metrics) => metrics.termStarted?.());
    this.#announce("became leader");
    this.#events.emit("term-started", { term });
    void this.#serve(run, served);
  }

  async #serve(run: Run, served: ServedTerm): Promise<void> {
    const { cooldownMs } = this.#config;
    const { endedByItself } = await serveTerm(served.term, run.work, {
      onError: (error) => {
        if (run.once) run.workError = { error };
        else this.#errors.work(error);
      },
      // The rest of the work has as long to stop as after a step-down, and the lease is renewed until then.
      onTasksLeft: () => this.#candidate?.send({ type: "step-down", cooldownMs, reason: "work-ended" }),
    });
    served.isWorking = false;
    // With `once` the candidate stops after this term. If the term ended for another reason, "stop" comes first, so that the
    // candidate does not campaign again. If the work ended it, "stop" comes last, so that the reason is not "shutdown".
    if (run.once && !endedByItself) this.#candidate?.send({ type: "stop" });
    this.#candidate?.send({ type: "work-stopped", cooldownMs });
    if (run.once && endedByItself) this.#candidate?.send({ type: "stop" });
    served.onWorkStopped?.();
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
    if (during !== "watch") this.#presence.failed(failure);
    const what = during === "accept" ? "accept the transfer of" : during;
    const error = new Error(`Cannot ${what} ${this.#options.lock.description}: ${failure.message}`);
    this.#errors.request(error, failure);
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
      lock.announce?.(`${this.#config.identity} ${what}`, undefined, new AbortController().signal);
    announcing().catch((error) => this.#errors.request(asError(error)));
  }
}
