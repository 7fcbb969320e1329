/** Time that a test owns. Timers run in order, and the promises that one settles run before the next does. */
import type { Instant } from "@tenure/core";
import type { Clock } from "../clock.ts";

interface Timer {
  readonly atMs: number;
  readonly callback: () => void;
}

/** More timers than this in one go are a loop. */
const mostTimers = 200_000;

export class VirtualClock implements Clock {
  readonly #timers = new Set<Timer>();
  #monoMs = 5_000;
  #wallMs = Date.parse("2030-01-01T00:00:00Z");

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

  /** The moments at which the armed timers fire, soonest first, counted from now. */
  get dueInMs(): number[] {
    return [...this.#timers].map(({ atMs }) => atMs - this.#monoMs).sort((a, b) => a - b);
  }

  async pass(ms: number): Promise<void> {
    const endMs = this.#monoMs + ms;
    await settle();
    for (let fired = 0; fired < mostTimers; fired++) {
      const next = [...this.#timers].reduce<Timer | undefined>(
        (first, timer) => (first && first.atMs <= timer.atMs ? first : timer),
        undefined,
      );
      if (!next || next.atMs > endMs) {
        this.#moveTo(endMs);
        return;
      }
      this.#moveTo(Math.max(next.atMs, this.#monoMs));
      this.#timers.delete(next);
      next.callback();
      await settle();
    }
    throw new Error(`more than ${mostTimers} timers in ${ms} ms`);
  }

  /** Passes time until it is so, and fails if it does not come to that. */
  async until(isSo: () => boolean, withinMs = 120_000): Promise<void> {
    const endMs = this.#monoMs + withinMs;
    await settle();
    while (!isSo()) {
      if (this.#monoMs >= endMs) throw new Error(`it did not come to that within ${withinMs} ms: ${isSo}`);
      await this.pass(1);
    }
  }

  /** The process stands still: both clocks go on, and what was due meanwhile runs with the next `pass`. */
  freeze(ms: number): void {
    this.#moveTo(this.#monoMs + ms);
  }

  /** The machine stands still, or somebody sets its clock: only the wall clock moves. */
  suspend(ms: number): void {
    this.#wallMs += ms;
  }

  #moveTo(monoMs: number): void {
    this.#wallMs += monoMs - this.#monoMs;
    this.#monoMs = monoMs;
  }
}

/** Lets everything run that waits for nothing but promises. */
export function settle(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
