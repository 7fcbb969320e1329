/** Waits that double with every failure, with jitter so that clients which lost the same server do not all return at once. */

export interface BackoffPolicy {
  /** The wait after the first failure. */
  readonly firstMs: number;
  /** The longest wait. */
  readonly mostMs: number;
  /** The part of each wait that is random, from 0 (none) to 1 (all of it). */
  readonly jitter: number;
}

/** More doublings than this overflow nothing, but no longest wait needs them. */
const mostDoublings = 20;

/** How long to wait after this many failures in a row. Never longer than `mostMs`. @param random a number in [0, 1) */
export function backoffMs(policy: BackoffPolicy, failures: number, random: number): number {
  if (failures <= 0) return 0;
  const doubledMs = policy.firstMs * 2 ** Math.min(failures - 1, mostDoublings);
  return Math.min(doubledMs, policy.mostMs) * (1 - policy.jitter * (1 - random));
}

/** A back-off that counts the failures itself. */
export class Backoff {
  readonly #policy: BackoffPolicy;
  readonly #random: () => number;
  #failures = 0;

  constructor(policy: BackoffPolicy, random: () => number) {
    this.#policy = policy;
    this.#random = random;
  }

  /** How many failures there were since the last reset. */
  get failures(): number {
    return this.#failures;
  }

  /** Counts one more failure and returns how long to wait. @param mostMs replaces the policy's longest wait */
  next(mostMs = this.#policy.mostMs): number {
    this.#failures += 1;
    return backoffMs({ ...this.#policy, mostMs }, this.#failures, this.#random());
  }

  reset(): void {
    this.#failures = 0;
  }
}
