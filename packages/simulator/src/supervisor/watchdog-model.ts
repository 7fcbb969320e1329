/** A watchdog as its own process: it reads the clocks of its machine, but runs when the supervisor is frozen. It may hang or die. */
import type { Instant } from "@tenure/base";
import type { Effect, Event } from "@tenure/supervisor/internal";
import type { Machine } from "../machine.ts";
import type { Scheduler } from "../scheduler.ts";

interface WatchdogParts {
  readonly scheduler: Scheduler;
  readonly machine: Machine;
  readonly killMarginMs: number;
  /** When all faults have ended. From then on it works. */
  readonly calmAfterMs: number;
  /** Sends an event to the supervisor. */
  readonly send: (delayMs: number, event: Event) => void;
  /** Kills the child. */
  readonly kill: () => void;
}

/** How likely a watchdog hangs or dies at a renewal. */
const failsWithChance = 0.02;

export class WatchdogModel {
  readonly #parts: WatchdogParts;
  /** Grows with every watchdog. */
  #generation = 0;
  #isAlive = false;
  #isHung = false;
  #deadline: Instant | undefined;

  constructor(parts: WatchdogParts) {
    this.#parts = parts;
  }

  mayFail(): void {
    const { machine, scheduler, calmAfterMs, send } = this.#parts;
    if (scheduler.nowMs >= calmAfterMs) return;
    if (!this.#isAlive || !machine.random.chance(failsWithChance)) return;
    if (machine.random.chance(0.5)) {
      this.#isHung = true;
      return;
    }
    this.#isAlive = false;
    send(1, { type: "watchdog-ended", why: "it was killed by SIGKILL" });
  }

  /** Whether it would kill the child now, if the supervisor could not. */
  get isProtecting(): boolean {
    return this.#isAlive && !this.#isHung;
  }

  /** It neither hangs nor is dead. */
  heal(): void {
    this.#isAlive = true;
    this.#isHung = false;
  }

  /** Returns whether the effect is for the watchdog. */
  perform(effect: Effect): boolean {
    switch (effect.type) {
      case "start-watchdog":
        this.#start();
        return true;
      case "kill-watchdog":
        this.#isAlive = false;
        return true;
      case "ask-watchdog":
        this.#answer(effect.question, this.#parts.machine.random.between(0, 20));
        return true;
      case "publish-deadline":
        this.#deadline = effect.deadline;
        this.#checkLater();
        return true;
      case "no-deadline":
        this.#deadline = undefined;
        return true;
      default:
        return false;
    }
  }

  #start(): void {
    this.#generation += 1;
    this.#isAlive = true;
    this.#isHung = false;
    this.#answer(0, this.#parts.machine.random.between(50, 300));
    this.#checkLater();
  }

  #answer(question: number, delayMs: number): void {
    const { scheduler, send } = this.#parts;
    const generation = this.#generation;
    scheduler.after(delayMs, () => {
      const isSame = this.#isAlive && generation === this.#generation;
      if (isSame && !this.#isHung) send(0, { type: "watchdog-answered", question });
    });
  }

  #checkLater(): void {
    const deadline = this.#deadline;
    if (deadline)
      this.#parts.scheduler.after(Math.max(this.#leftMs(deadline), 1), () => this.#check(deadline));
  }

  #check(deadline: Instant): void {
    const { machine, send, kill } = this.#parts;
    if (deadline !== this.#deadline || !this.#isAlive || this.#isHung) return;
    if (this.#leftMs(deadline) > 0) {
      this.#checkLater();
      return;
    }
    this.#deadline = undefined;
    send(0, { type: "watchdog-killed", pids: [1], sinceMs: machine.clock.now().monoMs });
    kill();
  }

  #leftMs({ monoMs, wallMs }: Instant): number {
    const now = this.#parts.machine.clock.now();
    return Math.min(monoMs - now.monoMs, wallMs - now.wallMs) - this.#parts.killMarginMs;
  }
}
