/** Time that a test owns: timers run in order, and the promises that one settles run before the next does. */
import type { Clock, Instant } from "@tenure/base";

export class VirtualClock implements Clock {
  readonly #timers = new Set<{ readonly atMs: number; readonly callback: () => void }>();
  #monoMs = 5_000;
  #aheadMs = 1_900_000_000_000;

  now(): Instant {
    return { monoMs: this.#monoMs, wallMs: this.#monoMs + this.#aheadMs };
  }

  at(atMs: number, callback: () => void): () => void {
    const timer = { atMs, callback };
    this.#timers.add(timer);
    return () => this.#timers.delete(timer);
  }

  get armed(): number {
    return this.#timers.size;
  }

  /** The machine stands still: only the wall clock moves. */
  suspend(ms: number): void {
    this.#aheadMs += ms;
  }

  async pass(ms: number): Promise<void> {
    const endMs = this.#monoMs + ms;
    await settle();
    for (;;) {
      const [next] = [...this.#timers].sort((a, b) => a.atMs - b.atMs);
      if (!next || next.atMs > endMs) break;
      this.#monoMs = Math.max(this.#monoMs, next.atMs);
      this.#timers.delete(next);
      next.callback();
      await settle();
    }
    this.#monoMs = endMs;
  }
}

/** Lets everything run that waits for nothing but promises. */
export function settle(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
