/**
 * Of N processes that run the same election, exactly one runs its work.
 *
 * Upholds G1 as far as a library can: work is told to stop in time, `term.isValid()` asks the clock, and what still runs
 * at the hard deadline ends with the process (`onOverrun`). Upholds G4: a candidate that lost campaigns again by itself.
 * Does not promise that code which never asks `term.isValid()` stops within the millisecond after a pause: a storage that
 * checks `term.token` does (G2).
 */
import { type EndReason, type Failure, parseDuration } from "@tenure/core";
import { Candidate, type Notice } from "./candidate.ts";
import type { Clock } from "./clock.ts";
import { Emitter } from "./emitter.ts";
import type { Engine } from "./engine.ts";
import { ElectionError } from "./errors.ts";
import { type CheckedOptions, checkOptions, type ElectionOptions } from "./options.ts";
import { overrunMessage } from "./overrun.ts";
import { endProcess, systemClock, systemRandom, warn } from "./platform.ts";
import { Term } from "./term.ts";

/** What can be listened to, in the order in which it happens. */
export interface ElectionEvents {
  /** Another leader, or nobody: the holder's time ran out or it let go. */
  "leader-changed": { readonly leader: string | undefined };
  "term-started": { readonly term: Term };
  renewed: { readonly term: Term };
  /** The work has stopped and the term is over. `released`: a successor need not wait. */
  "term-ended": { readonly term: Term; readonly reason: EndReason; readonly released: boolean };
  /** The work still runs at the hard deadline. With `onOverrun: "exit"` the process ends right after this. */
  overrun: { readonly term: Term };
  /** Something went wrong that the election goes on in spite of: a failed request, or what the work threw. */
  error: { readonly error: Error; readonly failure?: Failure };
}

export interface RunOptions {
  /** Ends the run: the work is stopped, then the lock is released, then `run` resolves. */
  readonly signal?: AbortSignal;
  /** End after the first term, however it ended; reject if the work threw. @default false */
  readonly once?: boolean;
}

export interface Health {
  readonly healthy: boolean;
  /** One sentence for people. */
  readonly message: string;
}

export type Work = (term: Term) => unknown;

interface Run {
  readonly work: Work;
  readonly once: boolean;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
  workError?: { readonly error: unknown };
}

interface Service {
  readonly term: Term;
  readonly startedMs: number;
}

export class Election {
  readonly identity: string;
  readonly #options: ElectionOptions;
  readonly #checked: CheckedOptions;
  readonly #clock: Clock;
  readonly #events = new Emitter<ElectionEvents>((error) => warn(asError(error)));
  #engine: Engine | undefined;
  #run: Run | undefined;
  #service: Service | undefined;

  constructor(options: ElectionOptions) {
    this.#options = options;
    this.#checked = checkOptions(options);
    this.#clock = options.clock ?? systemClock;
    this.identity = this.#checked.config.identity;
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
    const done = new Promise<void>((resolve, reject) => {
      this.#run = { work, once, resolve, reject };
    });
    try {
      await this.#options.lock.prepare?.();
      if (signal?.aborted) return;
      this.#engine ??= await this.#makeEngine();
      const engine = this.#engine;
      stop = () => engine.send({ type: "stop" });
      signal?.addEventListener("abort", stop, { once: true });
      engine.send({ type: "start" });
      await done;
    } finally {
      signal?.removeEventListener("abort", stop);
      this.#run = undefined;
    }
  }

  /**
   * Gives the leadership up on purpose: the work is stopped while the lease is still renewed, then the lock is released,
   * and this candidate keeps out for the cool-down. Does nothing when this process does not lead.
   */
  stepDown({ cooldown }: { readonly cooldown?: string } = {}): void {
    const cooldownMs = cooldown === undefined ? this.#checked.cooldownMs : parseDuration(cooldown);
    if (cooldownMs === undefined) {
      throw new ElectionError(
        "InvalidOptions",
        `cooldown must be a duration such as "30s": ${JSON.stringify(cooldown)}`,
      );
    }
    this.#engine?.send({ type: "step-down", cooldownMs });
  }

  /** Unhealthy: a leader whose time has run out and whose work goes on, and a candidate that is cut off from the lock. */
  health(): Health {
    if (!this.#run || !this.#engine) return { healthy: true, message: "not running" };
    if (this.#service && !this.#service.term.isValid()) {
      return { healthy: false, message: "the term has run out and its work has not stopped" };
    }
    const silentMs = this.#clock.now().monoMs - this.#engine.heardAtMs();
    if (silentMs > 2 * this.#checked.config.timings.leaseDurationMs) {
      return {
        healthy: false,
        message: `nothing heard of ${this.#options.lock.description} for ${Math.round(silentMs / 1_000)} s`,
      };
    }
    return { healthy: true, message: this.#service ? "leading" : "waiting" };
  }

  async #makeEngine(): Promise<Engine> {
    const { lock, random = systemRandom, worker = false, onOverrun = "exit" } = this.#options;
    const { config } = this.#checked;
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
    const { metrics } = this.#options;
    switch (notice.type) {
      case "term-started":
        this.#startTerm(notice.token);
        return;
      case "renewed":
        if (this.#service) this.#events.emit("renewed", this.#service);
        return;
      case "term-ending":
      case "term-lost":
        this.#service?.term.abort(notice.reason);
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
        metrics?.request?.(notice.during, notice.tookMs);
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
    this.#service = { term, startedMs: this.#clock.now().monoMs };
    this.#options.metrics?.leading?.(true);
    this.#options.metrics?.termStarted?.();
    this.#announce("became leader");
    this.#events.emit("term-started", { term });
    void this.#serve(run, term);
  }

  /** Runs the work to its end, whatever that is, and says so. */
  async #serve(run: Run, term: Term): Promise<void> {
    // The events of this step are told before the work begins.
    await undefined;
    try {
      if (!term.signal.aborted) await run.work(term);
    } catch (error) {
      if (!isFromAbort(error, term.signal)) this.#workThrew(run, error);
    }
    term.close();
    if (!term.signal.aborted) term.abort("work-ended");
    if (run.once) this.#engine?.send({ type: "stop" });
    this.#engine?.send({ type: "work-stopped", cooldownMs: this.#checked.cooldownMs });
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
    const { metrics } = this.#options;
    metrics?.leading?.(false);
    metrics?.termEnded?.(reason, this.#clock.now().monoMs - service.startedMs);
    this.#announce("stopped leading");
    this.#events.emit("term-ended", { term: service.term, reason, released });
    if (this.#run?.once) this.#engine?.send({ type: "stop" });
  }

  #overrun(): void {
    if (this.#service) this.#events.emit("overrun", this.#service);
    if ((this.#options.onOverrun ?? "exit") === "exit")
      endProcess(overrunMessage(this.#options.lock.description));
  }

  #failed(during: "read" | "acquire" | "renew" | "release" | "watch", failure: Failure): void {
    this.#options.metrics?.requestFailed?.(during, failure.kind);
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

  #broken(error: Error): void {
    this.#service?.term.abort("renew-deadline");
    this.#forgetWorker();
    this.#run?.reject(
      new ElectionError("WorkerFailed", `The thread of the election died: ${error.message}`, {
        cause: error,
      }),
    );
  }

  #announce(what: string): void {
    const { lock, announce = false } = this.#options;
    if (!announce || !lock.announce) return;
    lock.announce(`${this.identity} ${what}`, undefined, new AbortController().signal).catch((error) => {
      this.#events.emit("error", { error: asError(error) });
    });
  }
}

/** Work that ends by passing its signal on ends with that signal's reason, or with an AbortError: no news. */
function isFromAbort(error: unknown, signal: AbortSignal): boolean {
  if (!signal.aborted) return false;
  return (
    error === signal.reason ||
    (error instanceof Error && (error.name === "AbortError" || error.cause === signal.reason))
  );
}

function asError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error));
}
