/**
 * The machine in virtual time, with a simple model of everything around it: the processes of the child, the watchdog, the gates
 * and the hooks. The world does what the machine asks at once, unless a test holds it back. It knows the truth: until when the
 * term is valid, which processes run, and who works.
 */
import type { Instant } from "@tenure/base";
import type { ChildExit } from "../events.ts";
import { nextWakeMs } from "../machine/agenda.ts";
import { initialState, step } from "../machine/step.ts";
import type { Config, Effect, Event, HookName, State } from "../machine/types.ts";

const defaults: Config = {
  startTimeoutMs: 60_000,
  stopTimeoutMs: 25_000,
  killMarginMs: 500,
  onExit: "restart",
  maxRestarts: 5,
  restartWindowMs: 600_000,
  stableAfterMs: 60_000,
  cooldownMs: 30_000,
  whenUnhealthy: "yield",
  warm: false,
  health: undefined,
  hookTimeoutMs: {},
};

/** What a test can hold back. */
export type Held = "watchdog" | "prepare" | "gates" | "spawn" | "death";

interface WorldProcess {
  readonly pid: number;
  /** The child itself has exited, its descendants may run. */
  hasExited: boolean;
  killAtMs: number;
  /** Whether it does the work of the term. */
  works: boolean;
  wasToldToEnd: boolean;
}

interface WorldWatchdog {
  /** When it kills, by each clock. */
  deadline: Instant | undefined;
  hasListened: boolean;
}

export class World {
  readonly config: Config;
  readonly log: { readonly atMs: number; readonly effect: Effect }[] = [];
  readonly held = new Set<Held>();
  state: State = initialState;
  monoMs = 0;
  wallAheadMs = 0;
  /** The supervisor does not run. */
  isFrozen = false;
  isDead = false;
  process: WorldProcess | undefined;
  watchdog: WorldWatchdog | undefined;
  /** No work may run after this. */
  deadline: Instant | undefined;
  areGatesOpen = false;
  /** The hooks that run, by id. */
  hooks = new Map<number, HookName>();
  onEffect: (effect: Effect) => void = () => {};
  /** Called when the watchdog kills. */
  onWatchdogKill: () => void = () => {};
  /** Called whenever time or the world has moved. */
  onChange: () => void = () => {};
  #pids = 100;
  #waiting: Event[] = [];
  #isBusy = false;
  #lastPrepare = 0;
  #lastClose = 0;
  #lastQuestion = 0;
  #isSpawnPending = false;

  constructor(options: Partial<Config> = {}) {
    this.config = { ...defaults, ...options };
  }

  get now(): Instant {
    return { monoMs: this.monoMs, wallMs: 1_000_000 + this.monoMs + this.wallAheadMs };
  }

  /** The deadline this far from now. */
  in(ms: number): Instant {
    return { monoMs: this.monoMs + ms, wallMs: this.now.wallMs + ms };
  }

  /** The supervisor handles the event now, or when it runs again. */
  send(event: Event): void {
    if (this.isDead) return;
    this.#waiting.push(event);
    if (this.isFrozen || this.#isBusy) return;
    this.#isBusy = true;
    for (let next = this.#waiting.shift(); next; next = this.#waiting.shift()) {
      const { state, effects } = step(this.config, this.state, next, this.now);
      this.state = state;
      for (const effect of effects) {
        this.log.push({ atMs: this.monoMs, effect });
        this.onEffect(effect);
        this.#perform(effect);
      }
    }
    this.#isBusy = false;
  }

  win(lastsMs: number, token = 1n): void {
    this.deadline = this.in(lastsMs);
    this.send({ type: "term-began", token, deadline: this.deadline });
  }

  renew(lastsMs: number): void {
    this.deadline = this.in(lastsMs);
    this.send({ type: "renewed", deadline: this.deadline });
  }

  /** The child exits by itself, and takes its descendants with it. */
  exit(exit: ChildExit): void {
    const { process } = this;
    if (!process || process.hasExited) return;
    process.hasExited = true;
    this.process = undefined;
    this.send({ type: "child-exited", exit });
    this.send({ type: "child-gone", exit, killed: exit.signal === "SIGKILL" });
  }

  /** The system could not start the child. */
  failToStart(): void {
    if (!this.#isSpawnPending) return;
    this.#isSpawnPending = false;
    this.process = undefined;
    this.send({ type: "child-not-started", why: "there is no such program", exitCode: 127 });
  }

  /** The child confirms that its work has stopped. */
  quiet(): void {
    if (!this.process?.wasToldToEnd) return;
    this.process.works = false;
    this.send({ type: "child-quiet" });
  }

  /** The start that is being prepared is not needed. */
  alreadyDone(): void {
    this.send({ type: "already-done", id: this.#lastPrepare });
  }

  /** Does what was held back. */
  release(what: Held): void {
    this.held.delete(what);
    if (what === "prepare") this.send({ type: "prepared", id: this.#lastPrepare });
    if (what === "gates") this.send({ type: "gates-closed", id: this.#lastClose });
    if (what === "watchdog") this.#answer();
    if (what === "spawn" && this.#isSpawnPending) this.#spawned();
  }

  /** Ends the hook that has run for the longest. */
  endHook(failure?: string, id = [...this.hooks.keys()][0]): void {
    if (id === undefined || !this.hooks.delete(id)) return;
    this.send({ type: "hook-ended", id, failure });
  }

  killWatchdog(): void {
    if (!this.watchdog) return;
    this.watchdog = undefined;
    this.send({ type: "watchdog-ended", why: "it was killed by SIGKILL" });
  }

  /** The supervisor dies. The watchdog kills what is left, unless it hangs. */
  die(): void {
    this.isDead = true;
    if (this.watchdog && !this.held.has("watchdog")) this.process = undefined;
  }

  freeze(ms: number): void {
    this.isFrozen = true;
    this.pass(ms);
    this.isFrozen = false;
    this.send({ type: "tick" });
    this.pass(0);
  }

  /** Another world in the same state, with no listeners and an empty log. */
  copy(): World {
    const other = new World(this.config);
    const { state, monoMs, wallAheadMs, isFrozen, isDead, deadline, areGatesOpen } = this;
    Object.assign(other, { state, monoMs, wallAheadMs, isFrozen, isDead, deadline, areGatesOpen });
    for (const what of this.held) other.held.add(what);
    other.process = this.process && { ...this.process };
    other.watchdog = this.watchdog && { ...this.watchdog };
    other.hooks = new Map(this.hooks);
    other.#pids = this.#pids;
    other.#lastPrepare = this.#lastPrepare;
    other.#lastClose = this.#lastClose;
    other.#lastQuestion = this.#lastQuestion;
    other.#isSpawnPending = this.#isSpawnPending;
    return other;
  }

  /** All that the future of this world depends on. */
  facts(): readonly unknown[] {
    const { state, monoMs, wallAheadMs, isDead, process, watchdog, deadline, areGatesOpen } = this;
    const last = [this.#lastPrepare, this.#lastClose, this.#lastQuestion, this.#isSpawnPending, this.#pids];
    const sets = [[...this.held].sort(), [...this.hooks]];
    return [state, monoMs, wallAheadMs, isDead, process, watchdog, deadline, areGatesOpen, ...last, ...sets];
  }

  /** Lets time pass. The process manager kills at its time, the watchdog at its own, and the machine gets its ticks. */
  pass(ms: number): void {
    const endMs = this.monoMs + ms;
    for (let turns = 0; turns < 100_000; turns++) {
      const nextMs = Math.min(endMs, ...this.#dueTimes());
      this.monoMs = Math.max(this.monoMs, nextMs);
      this.#act();
      this.onChange();
      if (this.monoMs >= endMs && Math.min(...this.#dueTimes(), Number.POSITIVE_INFINITY) > endMs) return;
    }
    throw new Error("time does not pass: something is always due");
  }

  #dueTimes(): number[] {
    const { process, watchdog } = this;
    const times: number[] = [];
    if (process && !this.held.has("death")) {
      if (!this.isFrozen && !this.isDead) times.push(process.killAtMs);
      if (watchdog?.deadline && !this.held.has("watchdog"))
        times.push(this.#watchdogKillMs(watchdog.deadline));
    }
    if (!this.isFrozen && !this.isDead) times.push(nextWakeMs(this.config, this.state, this.now));
    return times;
  }

  #watchdogKillMs({ monoMs, wallMs }: Instant): number {
    return Math.min(monoMs, this.monoMs + wallMs - this.now.wallMs);
  }

  #act(): void {
    const { process, watchdog } = this;
    if (process && !this.held.has("death")) {
      const isDue = !this.isFrozen && !this.isDead && process.killAtMs <= this.monoMs;
      if (isDue) this.#kill("supervisor");
      else if (watchdog?.deadline && !this.held.has("watchdog")) {
        if (this.#watchdogKillMs(watchdog.deadline) <= this.monoMs) this.#kill("watchdog");
      }
    }
    if (this.isFrozen || this.isDead) return;
    if (nextWakeMs(this.config, this.state, this.now) <= this.monoMs) this.send({ type: "tick" });
  }

  #kill(by: "supervisor" | "watchdog"): void {
    const exit = { code: undefined, signal: "SIGKILL" };
    const pids = [this.process?.pid ?? 0];
    if (by === "watchdog") this.onWatchdogKill();
    this.process = undefined;
    if (by === "supervisor") this.send({ type: "child-killing" });
    else this.send({ type: "watchdog-killed", pids, sinceMs: this.monoMs });
    this.send({ type: "child-exited", exit });
    this.send({ type: "child-gone", exit, killed: true });
  }

  #perform(effect: Effect): void {
    switch (effect.type) {
      case "prepare":
        this.#lastPrepare = effect.id;
        if (!this.held.has("prepare")) this.send({ type: "prepared", id: effect.id });
        return;
      case "start-child":
        this.#pids += 1;
        this.process = {
          pid: this.#pids,
          hasExited: false,
          killAtMs: Number.POSITIVE_INFINITY,
          works: !this.config.warm,
          wasToldToEnd: false,
        };
        this.#isSpawnPending = true;
        if (!this.held.has("spawn")) this.#spawned();
        return;
      case "stop-child":
        if (!this.process) return;
        this.process.killAtMs = Math.min(this.process.killAtMs, this.monoMs + effect.timeoutMs);
        if (this.process.killAtMs <= this.monoMs && !this.held.has("death")) this.#kill("supervisor");
        return;
      case "tell-child":
        if (this.process && effect.what === "begin") this.process.works = true;
        if (this.process) this.process.wasToldToEnd = effect.what === "end";
        return;
      case "publish-deadline": {
        const { monoMs, wallMs } = effect.deadline;
        const { killMarginMs } = this.config;
        if (this.watchdog)
          this.watchdog.deadline = { monoMs: monoMs - killMarginMs, wallMs: wallMs - killMarginMs };
        return;
      }
      case "no-deadline":
        if (this.watchdog) this.watchdog.deadline = undefined;
        return;
      case "open-gates":
        this.areGatesOpen = true;
        return;
      case "close-gates":
        this.#lastClose = effect.id;
        this.areGatesOpen = false;
        if (!this.held.has("gates")) this.send({ type: "gates-closed", id: effect.id });
        return;
      case "run-hook":
        this.hooks.set(effect.id, effect.hook);
        return;
      case "stop-hook":
        this.endHook("killed", effect.id);
        return;
      case "start-watchdog":
        this.#startWatchdog();
        return;
      case "kill-watchdog":
        // What held back a watchdog that listened before does not hold back the next one.
        if (this.watchdog?.hasListened) this.held.delete("watchdog");
        this.watchdog = undefined;
        return;
      case "ask-watchdog":
        this.#lastQuestion = effect.question;
        if (!this.held.has("watchdog")) this.#answer();
        return;
    }
  }

  #startWatchdog(): void {
    const { term } = this.state;
    const { killMarginMs } = this.config;
    // The caller tells a new watchdog all that it must know.
    const deadline = term && {
      monoMs: term.deadline.monoMs - killMarginMs,
      wallMs: term.deadline.wallMs - killMarginMs,
    };
    const hasListened = !this.held.has("watchdog");
    this.watchdog = { deadline, hasListened };
    if (hasListened) this.send({ type: "watchdog-answered", question: 0 });
  }

  #answer(): void {
    if (this.watchdog) this.watchdog.hasListened = true;
    if (this.watchdog) this.send({ type: "watchdog-answered", question: this.#lastQuestion });
  }

  #spawned(): void {
    this.#isSpawnPending = false;
    this.send({ type: "child-started", pid: this.#pids });
  }
}
