/**
 * Of N processes that run the same election, exactly one runs its work.
 *
 * Upholds G1 as far as a library can: work is told to stop in time, `term.isValid()` asks the clock, and what still runs
 * at the hard deadline ends with the process (`onOverrun`). Upholds G4: a candidate that lost campaigns again by itself.
 * Does not promise that code which never asks `term.isValid()` stops within the millisecond after a pause: a storage that
 * checks `term.token` does (G2).
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
import type { Config, EndReason, Failure } from "@tenure/core";
import { Candidate, type Notice } from "./candidate.ts";
import type { Engine } from "./engine.ts";
import { ElectionError, invalidOptions } from "./errors.ts";
import type { ElectionEvents } from "./events.ts";
import { tell } from "./metrics.ts";
import { checkOptions, type ElectionOptions, type RunOptions, type Work } from "./options.ts";
import { overrunMessage } from "./overrun.ts";
import { endProcess } from "./platform.ts";
import { Term } from "./term.ts";

export interface Health {
  readonly healthy: boolean;
  /** One sentence for people. */
  readonly message: string;
}

interface Run {
  readonly work: Work;
  readonly once: boolean;
  readonly startedMs: number;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
  workError?: { readonly error: unknown };
}

interface Service {
  readonly term: Term;
  readonly startedMs: number;
  /** Whether the work has not stopped yet. */
  isWorking: boolean;
  onStopped?: () => void;
}

export class Election {
  readonly identity: string;
  readonly #options: ElectionOptions;
  readonly #config: Config;
  readonly #clock: Clock;
  readonly #events = new Emitter<ElectionEvents>((error) => warn(asError(error)));
  #engine: Engine | undefined;
  #run: Run | undefined;
  #service: Service | undefined;

  constructor(options: ElectionOptions) {
    this.#options = options;
    this.#config = checkOptions(options);
    this.#clock = options.clock ?? systemClock;
    this.identity = this.#config.identity;
  }

  /** Who leads now, as far as this candidate can know; undefined when nobody's time is running. */
  get leader(): string | undefined {
    return this.#engine?.leader();
  }

  /** The term that this process serves, if it does. */
  get term(): Term | undefined {
    return this.#service?.term;
  }

  /** Listens. The result ends it. */
  on<Name extends keyof ElectionEvents>(
    name: Name,
    listener: (event: ElectionEvents[Name]) => void,
  ): () => void {
    return this.#events.on(name, listener);
  }

  /**
   * Campaigns, runs `work` while this process leads, and campaigns again after every term, until the signal aborts.
   * A term ends when the work returns or throws, when `stepDown` is called, or when it is lost.
   */
  async run(work: Work, { signal, once = false }: RunOptions = {}): Promise<void> {
    if (this.#run)
      throw new ElectionError(
        "AlreadyRunning",
        "Cannot run the election twice at once: wait for the first run.",
      );
    if (signal?.aborted) return;
    let stop = () => {};
    const aborted = new Promise<undefined>((resolve) => {
      stop = () => resolve(undefined);
    });
    const done = new Promise<void>((resolve, reject) => {
      this.#run = { work, once, startedMs: this.#clock.now().monoMs, resolve, reject };
    });
    const endListening = signal && onAbort(signal, () => stop());
    try {
      // Credentials may take a minute to appear; who is asked to leave does not wait for them.
      const engine = await Promise.race([this.#prepare(signal), aborted]);
      if (!engine) return;
      stop = () => engine.send({ type: "stop" });
      engine.send({ type: "start" });
      if (signal?.aborted) stop();
      await done;
    } finally {
      endListening?.();
      this.#run = undefined;
    }
  }

  /**
   * Gives the leadership up on purpose: the work is stopped while the lease is still renewed, then the lock is released,
   * and this candidate keeps out for the cool-down. Does nothing when this process does not lead.
   */
  stepDown({ cooldown }: { readonly cooldown?: string } = {}): void {
    const problems: Problem[] = [];
    const cooldownMs =
      cooldown === undefined
        ? this.#config.cooldownMs
        : readDuration("cooldown", cooldown, problems, { mayBeZero: true });
    if (cooldownMs === undefined) throw invalidOptions("step down", problems);
    this.#engine?.send({ type: "step-down", cooldownMs });
  }

  /** Unhealthy: a leader whose time has run out and whose work goes on, and a candidate that is cut off from the lock. */
  health(): Health {
    if (!this.#run || !this.#engine) return { healthy: true, message: "not running" };
    const isWorking = this.#service?.isWorking ?? false;
    if (isWorking && !this.#service?.term.isValid()) {
      return { healthy: false, message: "the term has run out and its work has not stopped" };
    }
    const silentMs = this.#clock.now().monoMs - Math.max(this.#engine.heardAtMs(), this.#run.startedMs);
    if (silentMs > 2 * this.#config.timings.leaseDurationMs) {
      return {
        healthy: false,
        message: `nothing heard of ${this.#options.lock.description} for ${Math.round(silentMs / 1_000)} s`,
      };
    }
    return { healthy: true, message: isWorking ? "leading" : "waiting" };
  }

  async #prepare(signal: AbortSignal | undefined): Promise<Engine | undefined> {
    await this.#options.lock.prepare?.();
    if (!signal?.aborted) this.#engine ??= await this.#makeEngine();
    return this.#engine;
  }

  async #makeEngine(): Promise<Engine> {
    const { lock, random = systemRandom, worker = false, onOverrun = "exit" } = this.#options;
    const config = this.#config;
    const onNotice = (notice: Notice) => this.#heard(notice);
    if (!worker || !lock.spec) return new Candidate({ config, lock, clock: this.#clock, random, onNotice });
    const { WorkerEngine } = await import("./worker/host.ts");
    return new WorkerEngine({
      config,
      lock: lock.spec,
      endOnOverrun: onOverrun === "exit",
      onNotice,
      onBroken: (error) => this.#broken(error),
    });
  }

  #heard(notice: Notice): void {
    switch (notice.type) {
      case "term-started":
        this.#startTerm(notice.token);
        return;
      case "renewed":
        if (this.#service) this.#events.emit("renewed", this.#service);
        return;
      case "term-ending":
        this.#service?.term.abort(notice.reason);
        return;
      case "term-lost":
        this.#service?.term.lose(notice.reason);
        return;
      case "term-expired":
        this.#service?.term.expire();
        return;
      case "overrun":
        this.#overrun();
        return;
      case "term-ended":
        this.#endTerm(notice.reason, notice.released);
        return;
      case "leader-changed":
        this.#events.emit("leader-changed", { leader: notice.leader });
        return;
      case "answered":
        tell(this.#options.metrics, (metrics) => metrics.request?.(notice.during, notice.tookMs));
        return;
      case "failed":
        this.#failed(notice.during, notice.failure);
        return;
      case "watch-failed":
        this.#failed("watch", notice.failure);
        return;
      case "refused":
        this.#refused(notice.reason, notice.message);
        return;
      case "stopped":
        this.#stopped();
        return;
    }
  }

  #startTerm(token: bigint): void {
    const run = this.#run;
    const engine = this.#engine;
    if (!run || !engine) return;
    const term = new Term(this.identity, token, this.#clock, () => engine.validUntil());
    const service: Service = { term, startedMs: this.#clock.now().monoMs, isWorking: true };
    this.#service = service;
    tell(this.#options.metrics, (metrics) => metrics.leading?.(true));
    tell(this.#options.metrics, (metrics) => metrics.termStarted?.());
    this.#announce("became leader");
    this.#events.emit("term-started", { term });
    void this.#serve(run, service);
  }

  /** Runs the work to its end, whatever that is, and says so. */
  async #serve(run: Run, service: Service): Promise<void> {
    const { term } = service;
    // The events of this step are told before the work begins.
    await undefined;
    try {
      // The process may have been frozen on its way here.
      if (!term.signal.aborted && term.isValid()) await run.work(term);
    } catch (error) {
      if (!isAbortOf(term.signal, error)) this.#workThrew(run, error);
    } finally {
      this.#workStopped(run, service);
    }
  }

  #workStopped(run: Run, service: Service): void {
    const { term } = service;
    term.close();
    service.isWorking = false;
    // With `once` the candidate leaves as well. If the term was taken, that is said first, lest it campaign again; if the
    // work ended it, that is said last, lest it be taken for a shutdown.
    const endedByItself = !term.signal.aborted;
    if (endedByItself) term.abort("work-ended");
    if (run.once && !endedByItself) this.#engine?.send({ type: "stop" });
    this.#engine?.send({ type: "work-stopped", cooldownMs: this.#config.cooldownMs });
    if (run.once && endedByItself) this.#engine?.send({ type: "stop" });
    service.onStopped?.();
  }

  #workThrew(run: Run, error: unknown): void {
    if (run.once) run.workError = { error };
    else if (this.#events.has("error")) this.#events.emit("error", { error: asError(error) });
    else warn(asError(error));
  }

  #endTerm(reason: EndReason, released: boolean): void {
    const service = this.#service;
    if (!service) return;
    this.#service = undefined;
    const servedMs = this.#clock.now().monoMs - service.startedMs;
    tell(this.#options.metrics, (metrics) => metrics.leading?.(false));
    tell(this.#options.metrics, (metrics) => metrics.termEnded?.(reason, servedMs));
    this.#announce("stopped leading");
    this.#events.emit("term-ended", { term: service.term, reason, released });
  }

  #overrun(): void {
    if (this.#service) this.#events.emit("overrun", this.#service);
    if ((this.#options.onOverrun ?? "exit") === "exit")
      endProcess(overrunMessage(this.#options.lock.description));
  }

  #failed(during: "read" | "acquire" | "renew" | "release" | "watch", failure: Failure): void {
    tell(this.#options.metrics, (metrics) => metrics.requestFailed?.(during, failure.kind));
    const error = new Error(`Cannot ${during} ${this.#options.lock.description}: ${failure.message}`);
    this.#events.emit("error", { error, failure });
  }

  #refused(reason: "duplicate-identity" | "denied", message: string): void {
    const code = reason === "denied" ? "Denied" : "DuplicateIdentity";
    this.#run?.reject(
      new ElectionError(
        code,
        `Cannot take part in the election of ${this.#options.lock.description}: ${message}.`,
      ),
    );
    this.#forgetWorker();
  }

  #stopped(): void {
    const run = this.#run;
    this.#forgetWorker();
    if (run?.workError) run.reject(run.workError.error);
    else run?.resolve();
  }

  /** A thread serves one run; the candidate in this thread remembers what it knows for the next one. */
  #forgetWorker(): void {
    if (this.#options.worker) this.#engine = undefined;
  }

  /** Nobody renews any more, and nobody else watches over the hard deadline: that is left to do here. */
  #broken(cause: Error): void {
    const failure = new ElectionError("WorkerFailed", `The thread of the election died: ${cause.message}`, {
      cause,
    });
    const service = this.#service;
    const end = () => {
      this.#endTerm("renew-deadline", false);
      this.#run?.reject(failure);
    };
    this.#forgetWorker();
    if (!service?.isWorking) {
      end();
      return;
    }
    service.term.lose("renew-deadline");
    const deadlineMs = this.#clock.now().monoMs + service.term.remainingMs();
    const cancelDeadline = this.#clock.at(deadlineMs, () => {
      service.term.expire();
      this.#overrun();
    });
    service.onStopped = () => {
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
