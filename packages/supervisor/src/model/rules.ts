/**
 * A slow and obvious model of what a supervisor may do. It looks at the world from outside after every change, and knows nothing
 * of the machine's state.
 */
import type { Effect } from "../machine/types.ts";
import type { World } from "./world.ts";

/** A watchdog that is missing is missed for at most one lease, or for as long as these minimum times take on a short one. */
const shortestUnguardedMs = 3_000;

export class Rules {
  readonly violations: string[] = [];
  readonly #world: World;
  #isTermOpen = false;
  #isTermLost = false;
  #isTerminated = false;
  #readyPid = 0;
  #termMs = 0;
  #unguardedSinceMs: number | undefined;
  /** Since when the term ends on purpose. */
  #endingSinceMs: number | undefined;

  constructor(world: World) {
    this.#world = world;
    world.onEffect = (effect) => this.#onEffect(effect);
    world.onWatchdogKill = () => {
      if (!world.isFrozen && world.process?.works)
        this.#forbid("the watchdog has to kill, although the supervisor runs");
    };
    world.onChange = () => this.check();
  }

  won(lastsMs: number): void {
    this.#endingSinceMs = undefined;
    this.#isTermOpen = true;
    this.#isTermLost = false;
    this.#termMs = lastsMs;
  }

  ending(): void {
    if (this.#isTermOpen) this.#endingSinceMs ??= this.#world.monoMs;
  }

  lost(): void {
    this.#isTermLost = true;
  }

  ready(): void {
    this.#readyPid = this.#world.process?.pid ?? 0;
  }

  terminated(): void {
    this.ending();
    this.#isTerminated = true;
  }

  get isTermOpen(): boolean {
    return this.#isTermOpen;
  }

  /** The same rules for a copy of the world. */
  copyFor(world: World): Rules {
    const other = new Rules(world);
    other.#isTermOpen = this.#isTermOpen;
    other.#isTermLost = this.#isTermLost;
    other.#isTerminated = this.#isTerminated;
    other.#readyPid = this.#readyPid;
    other.#termMs = this.#termMs;
    other.#unguardedSinceMs = this.#unguardedSinceMs;
    other.#endingSinceMs = this.#endingSinceMs;
    return other;
  }

  /** All that later checks depend on. */
  facts(): readonly unknown[] {
    return [
      this.#isTermOpen,
      this.#isTermLost,
      this.#isTerminated,
      this.#readyPid,
      this.#unguardedSinceMs,
      this.#endingSinceMs,
    ];
  }

  /** Looks at the world. Nobody enforces anything while the supervisor is frozen or dead and the watchdog is missing too. */
  check(): void {
    const { process, areGatesOpen, isFrozen, isDead } = this.#world;
    const isRunning = !isFrozen && !isDead;
    const isGuarded = this.#world.watchdog !== undefined && !this.#world.held.has("watchdog");
    this.#checkGuard(isRunning, isGuarded);
    if (isRunning) this.#checkEnd();
    if (!isRunning && !isGuarded) return;
    if (process?.works && this.#leftMs() < 0)
      this.#forbid("a process works when only the kill margin is left");
    if (process?.works && !this.#isTermOpen) this.#forbid("a process works outside of a term");
    if (process && isDead) this.#forbid("a process outlives the supervisor");
    if (isRunning && areGatesOpen && !process?.works) this.#forbid("the gates are open, but nothing works");
    if (isRunning && areGatesOpen && this.#isTermLost) this.#forbid("the gates are open after the loss");
  }

  /** What is printed as the grace period of a pod is a second longer than the time to stop. */
  #checkEnd(): void {
    const { monoMs, config } = this.#world;
    if (!this.#isTermOpen || this.#endingSinceMs === undefined) return;
    if (monoMs > this.#endingSinceMs + config.stopTimeoutMs + 500)
      this.#forbid("the end of the term takes too long");
  }

  #checkGuard(isRunning: boolean, isGuarded: boolean): void {
    const { process, monoMs } = this.#world;
    if (!process?.works || !isRunning || isGuarded) {
      this.#unguardedSinceMs = undefined;
      return;
    }
    this.#unguardedSinceMs ??= monoMs;
    const forMs = monoMs - this.#unguardedSinceMs;
    if (forMs > Math.max(this.#termMs, shortestUnguardedMs)) {
      this.#forbid(`a process works without a watchdog for ${forMs} ms`);
    }
  }

  #onEffect(effect: Effect): void {
    const world = this.#world;
    const { process, watchdog, config } = world;
    switch (effect.type) {
      case "start-child":
        if (process) this.#forbid("a child starts beside another one");
        if (!watchdog) this.#forbid("a child starts without a watchdog");
        if (this.#isTerminated) this.#forbid("a child starts although the run ends");
        if (config.warm) return;
        if (!this.#isTermOpen || this.#isTermLost) this.#forbid("a child starts without a term");
        if (this.#leftMs() < 0) this.#forbid("a child starts when only the kill margin is left");
        if (!watchdog?.deadline) this.#forbid("a child starts and the watchdog knows no deadline");
        return;
      case "tell-child":
        if (effect.what === "end") return;
        if (!this.#isTermOpen || this.#leftMs() < 0) this.#forbid("a warm child begins without a valid term");
        if (!watchdog?.deadline) this.#forbid("a warm child begins and the watchdog knows no deadline");
        return;
      case "open-gates":
        if (process?.pid !== this.#readyPid) this.#forbid("the gates open, but the child is not ready");
        if (!this.#isTermOpen || this.#isTermLost || this.#leftMs() < 0)
          this.#forbid("the gates open without a valid term");
        return;
      case "finish-term":
        if (!this.#isTermOpen) this.#forbid("a term ends twice");
        if (config.warm ? process?.works : process) this.#forbid("the work is over, but a process lives");
        if (world.areGatesOpen) this.#forbid("the work is over, but the gates are open");
        if (
          [...world.hooks.values()].some(
            (hook) =>
              hook === "postStop" || hook === "recordCompletion" || (hook === "preStart" && !config.warm),
          )
        )
          this.#forbid("the work is over, but a hook runs");
        this.#isTermOpen = false;
        world.deadline = undefined;
        return;
      case "renew-gates":
        if (!world.areGatesOpen) this.#forbid("closed gates are renewed");
        return;
    }
  }

  /** The time left until the work must be dead: the deadline less the kill margin, by whichever clock comes first. */
  #leftMs(): number {
    const { deadline, now, config } = this.#world;
    if (!deadline) return Number.POSITIVE_INFINITY;
    return Math.min(deadline.monoMs - now.monoMs, deadline.wallMs - now.wallMs) - config.killMarginMs;
  }

  #forbid(what: string): void {
    this.violations.push(`${this.#world.monoMs} ms: ${what}`);
  }
}
