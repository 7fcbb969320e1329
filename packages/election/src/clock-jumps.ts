/**
 * Detects that the wall clock jumped relative to the monotonic clock: the machine was suspended, or somebody set its clock.
 * All listeners of a clock share one check, so a thousand terms cost no more than one. The check runs only while there are
 * listeners.
 *
 * This is a part of G1 (docs/adr/0006). Every listener is called within `defaultCheckMs` of running time after a jump, even if
 * another listener throws. A new listener may be called for a jump that happened just before it was added.
 */
import type { Clock, Instant } from "@tenure/base";
import { clockJumpMs } from "@tenure/core";

/**
 * How often the clocks are compared. Timers stand still during a suspension, so that a deadline would be noticed late; this
 * interval is well within the safety margin of the timings.
 */
const defaultCheckMs = 40;

const monitors = new WeakMap<Clock, JumpMonitor>();

/** Calls back after every jump of this clock. The returned function removes the listener. */
export function onClockJump(clock: Clock, listener: () => void): () => void {
  const monitor = monitors.get(clock) ?? new JumpMonitor(clock);
  monitors.set(clock, monitor);
  return monitor.add(listener);
}

class JumpMonitor {
  readonly #clock: Clock;
  readonly #listeners = new Set<() => void>();
  #cancel: (() => void) | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  add(callback: () => void): () => void {
    // A function of its own, so that the same callback can be added twice.
    const listener = () => callback();
    this.#listeners.add(listener);
    if (!this.#cancel) this.#scheduleCheck(this.#clock.now());
    return () => {
      this.#listeners.delete(listener);
      if (this.#listeners.size > 0) return;
      this.#cancel?.();
      this.#cancel = undefined;
    };
  }

  #scheduleCheck(before: Instant): void {
    this.#cancel = this.#clock.at(before.monoMs + (this.#clock.jumpCheckMs ?? defaultCheckMs), () => {
      const now = this.#clock.now();
      this.#scheduleCheck(now);
      if (clockJumpMs(before.wallMs - before.monoMs, now) !== 0) this.#callListeners();
    });
  }

  #callListeners(): void {
    const errors: unknown[] = [];
    for (const listener of [...this.#listeners]) {
      try {
        if (this.#listeners.has(listener)) listener();
      } catch (error) {
        errors.push(error);
      }
    }
    // The error surfaces as it would from a timer of the listener's own.
    if (errors.length > 0) throw errors[0];
  }
}
