import type { Instant } from "@tenure/core";

/** Time, passed in, so that a test can own it. */
export interface Clock {
  now(): Instant;
  /** Calls back once, at or after that monotonic time. The result cancels it. */
  at(monoMs: number, callback: () => void): () => void;
  /**
   * How often a leader compares the two readings, to notice that the machine was suspended. Each look wakes the process up;
   * more than 100 ms is for programs in which somebody else keeps the deadline by the wall clock too. @default 40
   */
  readonly jumpCheckMs?: number;
}
