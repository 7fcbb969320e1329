/**
 * Notices that the wall clock jumped against the monotonic one: the machine was suspended, or somebody set its clock. One
 * check serves all who listen to the same clock, so that a thousand terms cost no more than one; it runs only while
 * somebody listens.
 *
 * Upholds its part of G1 (docs/adr/0006): a jump is told within `clockCheckMs` of running time, to every listener, also
 * when another one throws. It may tell of a jump that was just before somebody began to listen.
 */
import type { Clock, Instant } from "@tenure/base";
import { clockJumpMs } from "@tenure/core";

/**
 * How often the clocks are compared. Timers stand still while a machine is suspended, so after it a deadline would be
 * noticed late; this is well within the margin of the timings.
 */
const clockCheckMs = 40;

const monitors = new WeakMap<Clock, JumpMonitor>();

/** Calls back after every jump of this clock. The result ends it. */
export function onClockJump(clock: Clock, listener: () => void): () => void {
  const monitor = monitors.get(clock) ?? new JumpMonitor(clock);
  monitors.set(clock, monitor);
  return monitor.listen(listener);
}

class JumpMonitor {
  readonly #clock: Clock;
  readonly #listeners = new Set<() => void>();
  #cancel: (() => void) | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  listen(listener: () => void): () => void {
    // Whoever listens twice is told twice.
    const tell = () => listener();
    this.#listeners.add(tell);
    if (!this.#cancel) this.#checkAgain(this.#clock.now());
    return () => {
      this.#listeners.delete(tell);
      if (this.#listeners.size > 0) return;
      this.#cancel?.();
      this.#cancel = undefined;
    };
  }

  #checkAgain(before: Instant): void {
    this.#cancel = this.#clock.at(before.monoMs + (this.#clock.jumpCheckMs ?? clockCheckMs), () => {
      const now = this.#clock.now();
      this.#checkAgain(now);
      if (clockJumpMs(before.wallMs - before.monoMs, now) !== 0) this.#tellAll();
    });
  }

  #tellAll(): void {
    const errors: unknown[] = [];
    for (const tell of [...this.#listeners]) {
      try {
        if (this.#listeners.has(tell)) tell();
      } catch (error) {
        errors.push(error);
      }
    }
    // As a timer of its own would have done.
    if (errors.length > 0) throw errors[0];
  }
}
