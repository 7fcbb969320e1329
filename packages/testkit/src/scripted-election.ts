/**
 * An election that follows the script of a test: the test decides when a term is won, renewed, lost and over. It has no lock
 * and makes no request. Use it to test code that takes an `Election`; use `MemoryLock` to test with real elections.
 */
import {
  asError,
  type Clock,
  Emitter,
  first as firstOf,
  type Instant,
  systemClock,
  warn,
} from "@tenure/base";
import {
  type Election,
  type ElectionEvents,
  type EndReason,
  type Health,
  type RunOptions,
  type Task,
  type TaskResult,
  Term,
  type Work,
} from "@tenure/election";

export interface ScriptedElectionOptions {
  /** @default "a" */
  readonly identity?: string;
  /** @default the machine's clock */
  readonly clock?: Clock;
}

/** How long a term lasts if the test does not say. */
const usualTermMs = 60_000;

export class ScriptedElection
  implements
    Pick<
      Election,
      | "identity"
      | "leader"
      | "term"
      | "health"
      | "isLeader"
      | "on"
      | "once"
      | "off"
      | "run"
      | "runIfLeader"
      | "stepDown"
      | "stop"
    >
{
  readonly identity: string;
  leader: string | undefined;
  /** What `health()` returns. */
  nextHealth: Health = { healthy: true, message: "waiting" };
  /** What happened, in order: "released", "not released", "step down 30s", "run over". */
  readonly log: string[] = [];
  readonly #clock: Clock;
  readonly #events = new Emitter<ElectionEvents>((error) => warn(asError(error)));
  #term: Term | undefined;
  #validUntil: Instant | undefined;
  #tokens = 0n;
  #serving: Promise<void> | undefined;
  #work: Work | undefined;
  #endRun: (() => void) | undefined;

  constructor({ identity = "a", clock = systemClock }: ScriptedElectionOptions = {}) {
    this.identity = identity;
    this.#clock = clock;
  }

  get term(): Term | undefined {
    return this.#term;
  }

  health(): Health {
    return this.nextHealth;
  }

  on<Name extends keyof ElectionEvents>(
    name: Name,
    listener: (event: ElectionEvents[Name]) => void,
  ): () => void {
    return this.#events.on(name, listener);
  }

  once<Name extends keyof ElectionEvents>(
    name: Name,
    listener: (event: ElectionEvents[Name]) => void,
  ): () => void {
    return this.#events.once(name, listener);
  }

  off<Name extends keyof ElectionEvents>(name: Name, listener: (event: ElectionEvents[Name]) => void): void {
    this.#events.off(name, listener);
  }

  isLeader(): boolean {
    return this.#term !== undefined && this.#term.refusal() === undefined;
  }

  async runIfLeader<T>(task: Task<T>): Promise<TaskResult<T>> {
    return this.#term?.run(task) ?? { ran: false, completed: false, reason: "not-leading" };
  }

  /** How many listeners there are. */
  get listeners(): number {
    return this.#events.size;
  }

  /** Emits an event that the script has no other method for. */
  emit<Name extends keyof ElectionEvents>(name: Name, event: ElectionEvents[Name]): void {
    this.#events.emit(name, event);
  }

  /** Serves the terms that the test wins, until the signal aborts or the test calls `endRun`. */
  run(options?: RunOptions): Promise<void>;
  run(work: Work, options?: RunOptions): Promise<void>;
  async run(first: Work | RunOptions = {}, second: RunOptions = {}): Promise<void> {
    const work: Work =
      typeof first === "function" ? first : (term) => firstOf(this.#clock, { ending: term.signal });
    const { signal } = typeof first === "function" ? second : first;
    this.#work = work;
    if (this.#term) this.#serve(this.#term, work);
    await new Promise<void>((resolve) => {
      this.#endRun = resolve;
      if (signal?.aborted) resolve();
      else signal?.addEventListener("abort", () => resolve(), { once: true });
    });
    this.#term?.abort("shutdown");
    await this.#serving;
    this.#serving = undefined;
    this.#work = undefined;
    this.log.push("run over");
  }

  /** Ends the run. Resolves when the work has stopped. */
  async stop(): Promise<void> {
    this.endRun();
    await this.#serving;
  }

  /** Ends the run as its signal would. */
  endRun(): void {
    this.#endRun?.();
  }

  stepDown({ cooldown = "default" }: { readonly cooldown?: string } = {}): void {
    this.log.push(`step down ${cooldown}`);
    this.askToStop("step-down");
  }

  /** Another candidate leads, or nobody does. */
  follow(leader: string | undefined): void {
    this.leader = leader;
    this.#events.emit("leader-changed", { leader });
  }

  /** Wins a term. The work of `run` serves it; without a run, the term lasts until the test ends it. */
  win({ token, lastsMs = usualTermMs }: { token?: bigint; lastsMs?: number } = {}): Term {
    this.#tokens = token ?? this.#tokens + 1n;
    this.setRemaining(lastsMs);
    const term = new Term(this.identity, this.#tokens, this.#clock, () => this.#validUntil);
    this.#term = term;
    this.nextHealth = { healthy: true, message: "leading" };
    this.follow(this.identity);
    this.#events.emit("term-started", { term });
    if (this.#work) this.#serve(term, this.#work);
    return term;
  }

  /** Renews the term. */
  renew(lastsMs = usualTermMs): void {
    if (!this.#term) return;
    this.setRemaining(lastsMs);
    this.#events.emit("renewed", { term: this.#term });
  }

  /** Sets how long the work may still run. */
  setRemaining(ms: number): void {
    const { monoMs, wallMs } = this.#clock.now();
    this.#validUntil = { monoMs: monoMs + ms, wallMs: wallMs + ms };
  }

  /** The term ends on purpose: the work is asked to stop while the lease is still held. */
  askToStop(reason: EndReason = "step-down"): void {
    this.#term?.abort(reason);
  }

  /** The term is lost: the work must stop within `remainingMs`. */
  lose(remainingMs: number, reason: EndReason = "renew-deadline"): void {
    this.setRemaining(remainingMs);
    this.#term?.lose(reason);
  }

  /** The hard deadline of the term passes. */
  expire(reason: EndReason = "renew-deadline"): void {
    this.lose(0, reason);
    this.#term?.expire();
  }

  /** Ends the term at once. A term that `run` serves ends by itself when its work returns. */
  end(reason: EndReason = "step-down", released = true): void {
    const term = this.#term;
    if (!term) return;
    term.abort(reason);
    term.close();
    this.#term = undefined;
    this.nextHealth = { healthy: true, message: "waiting" };
    this.follow(undefined);
    this.#events.emit("term-ended", { term, reason, released });
  }

  #serve(term: Term, work: Work): void {
    this.#serving = (async () => {
      try {
        await work(term);
      } catch (error) {
        this.#events.emit("error", { error: asError(error) });
      }
      if (!term.signal.aborted) term.abort("work-ended");
      if (!term.tasks.isIdle) await term.tasks.idle();
      const released = !term.lost.aborted;
      this.log.push(released ? "released" : "not released");
      if (this.#term === term) this.end(endReasonOf(term), released);
    })();
  }
}

function endReasonOf({ signal }: Term): EndReason {
  return (signal.reason as { reason?: EndReason } | undefined)?.reason ?? "work-ended";
}
