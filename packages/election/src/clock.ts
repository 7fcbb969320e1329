import type { Instant } from "@tenure/core";

/** Time, passed in, so that a test can own it. */
export interface Clock {
  now(): Instant;
  /** Calls back once, at or after that monotonic time. The result cancels it. */
  at(monoMs: number, callback: () => void): () => void;
}
