/** A point in time that can only be moved closer. */
import { after, type Clock } from "@tenure/base";

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
    this.shorten(inMs);
  }

  /** Moves the deadline, unless that would make it later. */
  shorten(inMs: number): void {
    const atMs = this.#clock.now().monoMs + inMs;
    if (atMs >= this.#atMs) return;
    this.#atMs = atMs;
    this.#cancel();
    this.#cancel = after(this.#clock, inMs, this.#resolve);
  }

  /** Waits for the promise, but no longer than until the deadline. */
  async within(promise: Promise<unknown>): Promise<void> {
    await Promise.race([promise, this.#passed]);
  }

  cancel(): void {
    this.#cancel();
  }
}
