/** What follows from the two readings of a clock: how much time has passed, and whether the wall clock jumped. */
import type { Instant } from "@tenure/base";

/**
 * The most that can have passed since, by either clock. A leader asks this about its own right to work: a suspended
 * machine shows in the wall clock only, and a wall clock set forward by hand costs a term, never safety (G1).
 */
export function elapsedMs(since: Instant, now: Instant): number {
  return Math.max(now.monoMs - since.monoMs, now.wallMs - since.wallMs);
}

/** The monotonic time at which `afterMs` will have passed since `since`, as far as can be told at `now`. */
export function dueMs(since: Instant, afterMs: number, now: Instant): number {
  return now.monoMs + (afterMs - elapsedMs(since, now));
}

/** Smaller differences between two readings of two clocks are rounding. */
const smallestJumpMs = 20;

/** How far the wall clock jumped against the monotonic one since they differed by `skewMs`; 0 when that is rounding. */
export function clockJumpMs(skewMs: number, now: Instant): number {
  const jumpMs = now.wallMs - now.monoMs - skewMs;
  return Math.abs(jumpMs) < smallestJumpMs ? 0 : jumpMs;
}

/**
 * A moment that was noted before a jump, so that the jump is accounted for whatever the clocks do next: forward, and so
 * much time may have passed unseen (a suspension); back, and the wall clock was set, which must not hide a suspension
 * that is still to come.
 */
export function acrossJump(moment: Instant, jumpMs: number): Instant {
  return jumpMs > 0
    ? { monoMs: moment.monoMs - jumpMs, wallMs: moment.wallMs }
    : { monoMs: moment.monoMs, wallMs: moment.wallMs + jumpMs };
}
