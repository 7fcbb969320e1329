/** A clock for tests: time moves only when the test moves it. */
import type { Clock, Instant } from "./clock.ts";
import { nextTurn } from "./platform.ts";

interface Timer {
  readonly atMs: number;
  readonly callback: () => void;
}

/** More timers than this in one call are a loop. */
const mostTimers = 200_000;

export class VirtualClock implements Clock {
  readonly #timers = new Set<Timer>();
  #monoMs = 5_000;
  #wallMs = Date.UTC(2030, 0, 1);

  now(): Instant {
    return { monoMs: this.#monoMs, wallMs: this.#wallMs };
  }

  at(monoMs: number, callback: () => void): () => void {
    const timer = { atMs: monoMs, callback };
    this.#timers.add(timer);
    return () => this.#timers.delete(timer);
  }

  /** How many timers are armed. */
  get armed(): number {
    return this.#timers.size;
  }

  /** How long until each armed timer fires, soonest first. */
  get dueInMs(): number[] {
    return [...this.#timers].map(({ atMs }) => atMs - this.#monoMs).sort((a, b) => a - b);
  }

  /** Moves time. Timers fire in order; all promises that one settles continue before the next fires. */
  async pass(ms: number): Promise<void> {
    const endMs = this.#monoMs + ms;
    await settle();
    for (let fired = 0; fired < mostTimers; fired++) {
      const next = [...this.#timers].reduce<Timer | undefined>(
        (first, timer) => (first && first.atMs <= timer.atMs ? first : timer),
        undefined,
      );
      if (!next || next.atMs > endMs) {
        this.#moveTo(Math.max(endMs, this.#monoMs));
        return;
      }
      this.#moveTo(Math.max(next.atMs, this.#monoMs));
      this.#timers.delete(next);
      next.callback();
      await settle();
    }
    throw new Error(`more than ${mostTimers} timers fired in ${ms} ms`);
  }

  /** Moves time until the condition holds. Rejects if it does not hold within `withinMs`. */
  async until(condition: () => boolean, withinMs = 120_000): Promise<void> {
    const endMs = this.#monoMs + withinMs;
    await settle();
    while (!condition()) {
      if (this.#monoMs >= endMs) throw new Error(`not true within ${withinMs} ms: ${condition}`);
      await this.pass(1);
    }
  }

  /** The process stops for a while: both readings move on. Timers that became due fire with the next `pass`. */
  freeze(ms: number): void {
    this.#moveTo(this.#monoMs + ms);
  }

  /** The machine is suspended, or somebody sets its clock: only the wall clock moves. */
  suspend(ms: number): void {
    this.#wallMs += ms;
  }

  #moveTo(monoMs: number): void {
    this.#wallMs += monoMs - this.#monoMs;
    this.#monoMs = monoMs;
  }
}

/** Lets everything run that waits for nothing but promises. */
export async function settle(): Promise<void> {
  await nextTurn();
}
