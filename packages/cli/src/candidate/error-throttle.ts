/** Decides which errors to log. An error that repeats is logged at once, then less and less often. */
import type { Clock } from "@tenure/base";

interface Seen {
  readonly nextMs: number;
  readonly pauseMs: number;
  readonly omitted: number;
}

const firstPauseMs = 2_000;
const longestPauseMs = 300_000;
/** An error that stayed away for this long is a new one. */
const forgetAfterMs = 60_000;
/** More different errors than anybody has seen at once. */
const mostKinds = 100;

export class ErrorThrottle {
  readonly #clock: Clock;
  readonly #seen = new Map<string, Seen>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** How often this error was left out since it was last logged. Undefined: leave it out now, too. */
  next(message: string): number | undefined {
    // The same failure differs in durations and ports.
    const key = message.replaceAll(/\d+/g, "0");
    const nowMs = this.#clock.now().monoMs;
    const last = this.#seen.get(key);
    if (last && nowMs < last.nextMs) {
      this.#seen.set(key, { ...last, omitted: last.omitted + 1 });
      return undefined;
    }
    const isNew = !last || nowMs > last.nextMs + forgetAfterMs;
    const pauseMs = isNew ? firstPauseMs : Math.min(last.pauseMs * 2, longestPauseMs);
    if (this.#seen.size >= mostKinds) this.#seen.clear();
    this.#seen.set(key, { nextMs: nowMs + pauseMs, pauseMs, omitted: 0 });
    return last?.omitted ?? 0;
  }
}
