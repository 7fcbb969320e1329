/** A machine with one process. It can crash, freeze or be suspended. Events then wait, or are lost after a crash. */
import type { Connection } from "./connection.ts";
import type { Link } from "./link.ts";
import { MachineClock } from "./machine-clock.ts";
import type { ProcessPlan } from "./plan.ts";
import type { Random } from "./random.ts";
import type { Scheduler } from "./scheduler.ts";

export class Machine<L extends Connection = Link> {
  readonly clock: MachineClock;
  readonly link: L;
  readonly random: Random;
  #isDead = false;
  #frozen = 0;
  #waiting: (() => void)[] = [];

  constructor(
    scheduler: Scheduler,
    plan: Pick<ProcessPlan, "rate" | "wallSkewMs">,
    random: Random,
    connect: (machine: Machine<L>) => L,
  ) {
    this.random = random;
    this.clock = new MachineClock(scheduler, { ...plan, bootMs: random.between(1, 1e6) }, this.defer);
    this.link = connect(this);
  }

  get isRunning(): boolean {
    return !this.#isDead && this.#frozen === 0;
  }

  get isDead(): boolean {
    return this.#isDead;
  }

  kill(): void {
    this.#isDead = true;
    this.#waiting = [];
  }

  freeze(): void {
    this.#frozen += 1;
  }

  thaw(): void {
    if (this.#frozen === 0) return;
    this.#frozen -= 1;
    if (this.#frozen > 0) return;
    // After a freeze, a process may handle timers or sockets first.
    const waiting = this.random.chance(0.5) ? this.#waiting : this.#waiting.reverse();
    this.#waiting = [];
    for (const callback of waiting) this.defer(callback);
  }

  /** Runs the callback in the process: now, when it thaws if it is frozen, or never if it is dead. */
  readonly defer = (callback: () => void): void => {
    if (this.#isDead) return;
    if (this.#frozen > 0) this.#waiting.push(callback);
    else callback();
  };
}
