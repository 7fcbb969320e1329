/**
 * Time, randomness and temporary directories of the machine. No other file of this package uses them
 * (house-rules.test.ts checks that), so a test can pass in its own.
 */
import { randomBytes, randomUUID } from "node:crypto";
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { backgroundClock, type Clock, systemRandom } from "@tenure/base";

export interface Platform {
  /** Its wall clock is written into objects; its monotonic clock measures. Timers do not keep the process alive. */
  readonly clock: Clock;
  /** Uniform in [0, 1). */
  random(): number;
  randomBytes(count: number): Buffer;
  uuid(): string;
}

export const systemPlatform: Platform = {
  clock: backgroundClock,
  random: systemRandom,
  randomBytes: (count) => randomBytes(count),
  uuid: () => randomUUID(),
};

export function makeTemporaryDirectory(prefix: string): Promise<string> {
  return mkdtemp(join(tmpdir(), prefix));
}
