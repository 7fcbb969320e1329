/** Time that a test owns. Timers run in order, and the promises that one settles run before the next does. */
import type { Clock } from "../platform.ts";

interface Timer {
  readonly atMs: number;
  readonly callback: () => void;
}

export class VirtualClock implements Clock {
  readonly #timers = new Set<Timer>();
  #nowMs = 5_000;

  nowMs(): number {
    return this.#nowMs;
  }

  after(delayMs: number, callback: () => void): () => void {
    const timer = { atMs: this.#nowMs + delayMs, callback };
    this.#timers.add(timer);
    return () => this.#timers.delete(timer);
  }

  /** How many timers are armed. */
  get armed(): number {
    return this.#timers.size;
  }

  async pass(ms: number): Promise<void> {
    const endMs = this.#nowMs + ms;
    await settle();
    for (;;) {
      const next = [...this.#timers].sort((a, b) => a.atMs - b.atMs)[0];
      if (!next || next.atMs > endMs) break;
      this.#nowMs = Math.max(next.atMs, this.#nowMs);
      this.#timers.delete(next);
      next.callback();
      await settle();
    }
    this.#nowMs = endMs;
  }
}

/** Lets everything run that waits for nothing but promises. */
export async function settle(): Promise<void> {
  for (let turn = 0; turn < 6; turn++) await new Promise((resolve) => setImmediate(resolve));
}
