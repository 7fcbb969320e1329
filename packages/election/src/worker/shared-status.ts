/**
 * Memory that the two threads of an election share: until when the work may run, and when the lock last answered. With it,
 * `term.isValid()` is right even if the main thread is too busy to read its messages.
 */
import type { Instant } from "@tenure/base";

const slots = { validUntilMonoUs: 0, validUntilWallUs: 1, lastContactUs: 2 } as const;
const never = -(2n ** 62n);

export class SharedStatus {
  readonly buffer: SharedArrayBuffer;
  readonly #cells: BigInt64Array;

  /** @param buffer the memory of another thread's status; without it, new memory is allocated */
  constructor(buffer?: SharedArrayBuffer) {
    this.buffer = buffer ?? new SharedArrayBuffer(Object.keys(slots).length * 8);
    this.#cells = new BigInt64Array(this.buffer);
    if (!buffer) this.publish(undefined, Number.NEGATIVE_INFINITY);
  }

  publish(validUntil: Instant | undefined, lastContactMs: number): void {
    Atomics.store(this.#cells, slots.validUntilMonoUs, toMicros(validUntil?.monoMs));
    Atomics.store(this.#cells, slots.validUntilWallUs, toMicros(validUntil?.wallMs));
    Atomics.store(this.#cells, slots.lastContactUs, toMicros(lastContactMs));
  }

  validUntil(): Instant | undefined {
    const monoUs = Atomics.load(this.#cells, slots.validUntilMonoUs);
    if (monoUs === never) return undefined;
    return { monoMs: toMillis(monoUs), wallMs: toMillis(Atomics.load(this.#cells, slots.validUntilWallUs)) };
  }

  lastContactMs(): number {
    return toMillis(Atomics.load(this.#cells, slots.lastContactUs));
  }
}

/** Rounds down: the right to work may end a microsecond early, but never late. */
function toMicros(ms: number | undefined): bigint {
  return ms === undefined || !Number.isFinite(ms) ? never : BigInt(Math.floor(ms * 1_000));
}

function toMillis(us: bigint): number {
  return us === never ? Number.NEGATIVE_INFINITY : Number(us) / 1_000;
}
