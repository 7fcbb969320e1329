/**
 * Time, timers, randomness and temporary directories of the machine. No other file of this package uses them
 * (house-rules.test.ts checks that), so a test can pass in its own.
 */
import { randomBytes, randomUUID } from "node:crypto";
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";

export interface Timer {
  cancel(): void;
}

export interface Platform {
  /** Wall clock, in milliseconds since 1970. It is written into objects, and never used to measure durations. */
  wallMs(): number;
  /** Monotonic clock, in milliseconds. */
  monotonicMs(): number;
  /** Calls back once. The timer does not keep the process alive. */
  after(delayMs: number, callback: () => void): Timer;
  /** Uniform in [0, 1). */
  random(): number;
  randomBytes(count: number): Buffer;
  uuid(): string;
}

export const systemPlatform: Platform = {
  wallMs: () => Date.now(),
  monotonicMs: () => performance.now(),
  after(delayMs, callback) {
    const timer = setTimeout(callback, delayMs);
    timer.unref();
    return { cancel: () => clearTimeout(timer) };
  },
  random: () => Math.random(),
  randomBytes: (count) => randomBytes(count),
  uuid: () => randomUUID(),
};

export function makeTemporaryDirectory(prefix: string): Promise<string> {
  return mkdtemp(join(tmpdir(), prefix));
}
