/** One moment, as one machine sees it. */
export interface Instant {
  /** Never goes back, but may stand still while the machine is suspended. */
  readonly monoMs: number;
  /** Anybody can set it, but it keeps running during a suspension. */
  readonly wallMs: number;
}

/** Time. It is passed in, so that a test can control it. */
export interface Clock {
  now(): Instant;
  /** Calls back once, at or after that monotonic time. The returned function cancels the call. */
  at(monoMs: number, callback: () => void): () => void;
  /**
   * How often a leader compares the two readings to notice that the machine was suspended. Each comparison wakes the
   * process. Use more than 100 ms only where another process enforces the deadline by the wall clock. @default 40
   */
  readonly jumpCheckMs?: number;
}
