/** A moment that can be moved nearer, and something to wait for until then. */
import type { Clock } from "../platform.ts";

export class Deadline {
  readonly #clock: Clock;
  readonly #passed: Promise<void>;
  #resolve: () => void = () => {};
  #cancel: () => void = () => {};
  #atMs = Number.POSITIVE_INFINITY;

  constructor(clock: Clock, inMs: number) {
    this.#clock = clock;
    this.#passed = new Promise((resolve) => {
      this.#resolve = resolve;
    });
    this.hasten(inMs);
  }

  get isPassed(): boolean {
    return this.#clock.nowMs() >= this.#atMs;
  }

  /** Moves it, if that is nearer. */
  hasten(inMs: number): void {
    const atMs = this.#clock.nowMs() + inMs;
    if (atMs >= this.#atMs) return;
    this.#atMs = atMs;
    this.#cancel();
    this.#cancel = this.#clock.after(inMs, this.#resolve);
  }

  /** Waits for it, but not longer than this. */
  async within(promise: Promise<unknown>): Promise<void> {
    await Promise.race([promise, this.#passed]);
  }

  cancel(): void {
    this.#cancel();
  }
}
