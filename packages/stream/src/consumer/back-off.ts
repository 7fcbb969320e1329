/**
 * How long to wait before the next try: 1, 2, 4, 8 … 30 s, a little less by chance, so that many clients of a server that
 * came back do not all knock at once. Never longer than these figures.
 */
export interface BackOffOptions {
  /** @default 1000 */
  readonly firstMs?: number;
  /** @default 30000 */
  readonly mostMs?: number;
  /** The part of each wait that is left to chance, 0 to 1. @default 0.2 */
  readonly jitter?: number;
}

export const defaultBackOff = { firstMs: 1_000, mostMs: 30_000, jitter: 0.2 } as const;

export class BackOff {
  readonly #options: Required<BackOffOptions>;
  readonly #random: () => number;
  #tries = 0;

  constructor(options: BackOffOptions, random: () => number) {
    this.#options = { ...defaultBackOff, ...options };
    this.#random = random;
  }

  /** How many waits there were since the last reset. */
  get tries(): number {
    return this.#tries;
  }

  next(): number {
    const { firstMs, mostMs, jitter } = this.#options;
    const wholeMs = Math.min(firstMs * 2 ** this.#tries, mostMs);
    this.#tries++;
    return wholeMs * (1 - jitter * this.#random());
  }

  reset(): void {
    this.#tries = 0;
  }
}
