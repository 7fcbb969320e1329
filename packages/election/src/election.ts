/**
 * Leader election: exactly one of the N processes that run the same election runs its work.
 *
 * G1, as far as a library can guarantee it: the work is told to stop in time, `term.isValid()` asks the clock, and work that
 * still runs at the hard deadline ends with the process (`onOverrun`). G4: a candidate that loses keeps campaigning.
 *
 * Not guaranteed: code that does not call `term.isValid()` may still run for a moment after the process was paused. Storage that
 * checks `term.token` rejects its writes (G2).
 */
import { asError, Emitter, warn } from "@tenure/base";
import type { Config } from "@tenure/core";
import type { ElectionEvents } from "./events.ts";
import type { Health } from "./health.ts";
import { logEvents } from "./logger.ts";
import {
  checkOptions,
  type ElectionOptions,
  type RunOptions,
  readRunArguments,
  readStepDownOptions,
  readTermsOptions,
  type StepDownOptions,
  type TermsOptions,
  type Work,
} from "./options.ts";
import { Runner } from "./runner.ts";
import { untilEnding } from "./serve-term.ts";
import type { TaskResult } from "./task.ts";
import type { Task, Term } from "./term.ts";
import { termsOf } from "./terms.ts";

/**
 * A candidate in an election. Of all processes with the same lock, exactly one leads and runs its work.
 * @example
 * const election = new Election({ lock: new LeaseLock({ namespace: "prod", name: "billing" }) });
 * election.on("error", ({ error }) => console.error(error.message));
 * await election.run(async (term) => {
 *   while (term.isValid() && !term.signal.aborted) await bill(term);
 * }, { signal: shutdown.signal });
 */
export class Election {
  /** The identity of this candidate. It is in the lock while this process leads. */
  readonly identity: string;
  readonly #config: Config;
  readonly #events = new Emitter<ElectionEvents>((error) => warn(asError(error)));
  readonly #runner: Runner;

  /**
   * Contacts nobody before `run`. Throws an ElectionError with the code `InvalidOptions` that names every problem with the options.
   * @example new Election({ lock: new LeaseLock({ name: "billing" }), preset: "fast-failover" })
   */
  constructor(options: ElectionOptions) {
    this.#config = checkOptions(options);
    this.identity = this.#config.identity;
    if (options.logger) logEvents(this.#events, options.logger, this.identity);
    this.#runner = new Runner(options, this.#config, this.#events);
  }

  /** The identity of the current leader as far as this candidate knows; undefined if no lease is in force. */
  get leader(): string | undefined {
    return this.#runner.leader;
  }

  /** The term of this process; undefined while it does not lead. To do work in it, use `runIfLeader`. */
  get term(): Term | undefined {
    return this.#runner.term;
  }

  /**
   * Whether this process leads and may start work at this moment, that is, whether `runIfLeader` would run a task. It asks the
   * clock, so it is right even after the process was paused. It is false while the term is ending.
   *
   * Do not start work because of it: the lease could be released while that work runs. Use `runIfLeader`.
   * @example app.get("/leader", (_, response) => response.json({ leader: election.isLeader() }));
   */
  isLeader(): boolean {
    const { term } = this.#runner;
    return term !== undefined && term.refusal() === undefined;
  }

  /**
   * Runs a task if this process leads, for example the job of a timer. The lease is not released before the task has stopped,
   * whatever ends the term: a shutdown, `stepDown`, an order of an operator. The same limits apply to it as to the work of `run`:
   * `term.signal` tells it to stop, and `stopTimeout` and `onOverrun` apply if it does not. An error of the task rejects the
   * promise and does not end the term.
   *
   * The election must be running: see `run`. Several tasks may run at the same time.
   * @example
   * setInterval(() => election.runIfLeader(({ signal }) => sendReport(signal)).catch(console.error), 60_000);
   * await election.run({ signal: shutdown.signal });
   */
  async runIfLeader<T>(task: Task<T>): Promise<TaskResult<T>> {
    const { term } = this.#runner;
    return term ? term.run(task) : { ran: false, completed: false, reason: "not-leading" };
  }

  /**
   * Adds a listener. The returned function removes it.
   * @example election.on("leader-changed", ({ leader }) => console.log(leader ?? "nobody leads"));
   */
  on<Name extends keyof ElectionEvents>(
    name: Name,
    listener: (event: ElectionEvents[Name]) => void,
  ): () => void {
    return this.#events.on(name, listener);
  }

  /** Adds a listener for the next event only. The returned function removes it. */
  once<Name extends keyof ElectionEvents>(
    name: Name,
    listener: (event: ElectionEvents[Name]) => void,
  ): () => void {
    return this.#events.once(name, listener);
  }

  /** Removes a listener that `on` or `once` added. */
  off<Name extends keyof ElectionEvents>(name: Name, listener: (event: ElectionEvents[Name]) => void): void {
    this.#events.off(name, listener);
  }

  /**
   * Campaigns, runs `work` while this process leads, and campaigns again after every term, until the signal aborts or `stop` is
   * called. A term ends when the work returns or throws, when `stepDown` is called, or when the term is lost. Without `work`, a
   * term lasts until one of the others happens; use that with `runIfLeader`.
   *
   * Rejects if the options of the run are invalid, if the election is already running, if another live process has the same
   * identity, and with `once` if the work throws.
   * @example
   * process.once("SIGTERM", () => shutdown.abort());
   * await election.run((term) => work(term), { signal: shutdown.signal });
   */
  run(options?: RunOptions): Promise<void>;
  run(work: Work, options?: RunOptions): Promise<void>;
  async run(first?: Work | RunOptions, second?: RunOptions): Promise<void> {
    const { work = untilEnding, options } = readRunArguments(first, second);
    await this.#runner.run(work, options);
  }

  /**
   * Runs the election, one turn of the loop for each term that this process serves. When the body of the loop ends, the term is
   * handed over and the loop waits for the next one. `break`, `return` and an error in the body also end the run; the loop is left
   * after the lease has been released. The body must end soon after `term.signal` aborts.
   * @example
   * for await (const term of election.terms({ signal: shutdown.signal })) {
   *   while (term.isValid() && !term.signal.aborted) await bill(term);
   * }
   */
  terms(options: TermsOptions = {}): AsyncGenerator<Term, void, undefined> {
    const signal = readTermsOptions(options);
    return termsOf((work, runOptions) => this.run(work, runOptions), signal);
  }

  /**
   * Ends the run: the work is stopped, then the lock is released. Resolves when the run has ended. Has no effect if the election
   * does not run. The work must not await it, because it waits for the work.
   */
  async stop(): Promise<void> {
    await this.#runner.stop();
  }

  /**
   * The same as `stop`.
   * @example
   * await using election = new Election({ lock });
   * void election.run({ signal });
   */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#runner.stop();
  }

  /**
   * Gives up leadership on purpose. The work is asked to stop while the lease is still renewed, then the lock is released, and
   * this candidate does not campaign during the cool-down. Has no effect if this process does not lead.
   * @example election.stepDown({ cooldown: "30s" });
   */
  stepDown(options: StepDownOptions = {}): void {
    this.#runner.stepDown(readStepDownOptions(options, this.#config.cooldownMs));
  }

  /** Unhealthy if the work goes on after its time is over, or if the candidate has no connection to the lock. */
  health(): Health {
    return this.#runner.health();
  }
}
