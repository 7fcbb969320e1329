/** A moment as one machine sees it. */
export interface Instant {
  /** Never goes back, but may stand still while the machine is suspended. */
  readonly monoMs: number;
  /** May be set at will, but goes on during a suspension. */
  readonly wallMs: number;
}

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
