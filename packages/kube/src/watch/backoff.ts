/** Waits that double and are jittered, so that watchers which lost the same server do not come back in step. */
import type { Platform } from "../platform.ts";

const firstMs = 100;

export class Backoff {
  readonly #platform: Platform;
  #failures = 0;

  constructor(platform: Platform) {
    this.#platform = platform;
  }

  /** The next wait: half to all of 100 ms, 200 ms, … up to `maxMs`. */
  next(maxMs: number): number {
    const fullMs = Math.min(maxMs, firstMs * 2 ** Math.min(this.#failures, 20));
    this.#failures += 1;
    return fullMs * (0.5 + this.#platform.random() / 2);
  }

  reset(): void {
    this.#failures = 0;
  }
}
