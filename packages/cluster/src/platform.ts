/** Time and randomness of the machine. They are passed in, so that a test can control them. */
import { backgroundClock, type Clock, systemRandom } from "@tenure/base";

export interface Platform {
  /** Its timers do not keep the process alive. */
  readonly clock: Clock;
  /** A number in [0, 1). */
  random(): number;
}

export const systemPlatform: Platform = { clock: backgroundClock, random: systemRandom };
