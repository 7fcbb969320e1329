/** Calculations with the two readings of a clock: the time that has passed, and jumps of the wall clock. */
import type { Instant } from "@tenure/base";

/**
 * The time that has passed since, by the clock that shows more. A leader measures its own deadlines by this. Only the wall
 * clock shows that the machine was suspended. If somebody sets the wall clock forward, a term may be lost, but G1 holds.
 */
export function elapsedMs(since: Instant, now: Instant): number {
  return Math.max(now.monoMs - since.monoMs, now.wallMs - since.wallMs);
}

/** The monotonic time at which `afterMs` will have passed since `since`, as far as is known at `now`. */
export function dueMs(since: Instant, afterMs: number, now: Instant): number {
  return now.monoMs + (afterMs - elapsedMs(since, now));
}

/** Smaller differences between the two clocks are rounding errors. */
const minJumpMs = 20;

/** How far the wall clock has jumped since it was `offsetMs` ahead of the monotonic clock. 0 for a rounding error. */
export function clockJumpMs(offsetMs: number, now: Instant): number {
  const jumpMs = now.wallMs - now.monoMs - offsetMs;
  return Math.abs(jumpMs) < minJumpMs ? 0 : jumpMs;
}

/**
 * Moves an instant from before a jump, so that `elapsedMs` stays right whatever the clocks do next. After a jump forward,
 * the machine may have been suspended for that long: the instant moves back on the monotonic clock too. After a jump back,
 * somebody set the wall clock: the instant moves back with it, so that a later suspension still shows.
 */
export function moveAcrossJump(instant: Instant, jumpMs: number): Instant {
  return jumpMs > 0
    ? { monoMs: instant.monoMs - jumpMs, wallMs: instant.wallMs }
    : { monoMs: instant.monoMs, wallMs: instant.wallMs + jumpMs };
}
