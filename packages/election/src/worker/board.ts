/**
 * What the two threads of an election share without a message: until when the work may run, and when the lock was heard
 * of. A main thread that is too busy to read its messages still gets a right answer from `term.isValid()`.
 */
import type { Instant } from "@tenure/base";

const slots = { monoUs: 0, wallUs: 1, heardUs: 2 } as const;
const never = -(2n ** 62n);

export class Board {
  readonly buffer: SharedArrayBuffer;
  readonly #cells: BigInt64Array;

  constructor(buffer?: SharedArrayBuffer) {
    this.buffer = buffer ?? new SharedArrayBuffer(Object.keys(slots).length * 8);
    this.#cells = new BigInt64Array(this.buffer);
    if (buffer) return;
    this.publish(undefined, Number.NEGATIVE_INFINITY);
  }

  publish(validUntil: Instant | undefined, heardAtMs: number): void {
    Atomics.store(this.#cells, slots.monoUs, micros(validUntil?.monoMs));
    Atomics.store(this.#cells, slots.wallUs, micros(validUntil?.wallMs));
    Atomics.store(this.#cells, slots.heardUs, micros(heardAtMs));
  }

  validUntil(): Instant | undefined {
    const monoUs = Atomics.load(this.#cells, slots.monoUs);
    if (monoUs === never) return undefined;
    return { monoMs: millis(monoUs), wallMs: millis(Atomics.load(this.#cells, slots.wallUs)) };
  }

  heardAtMs(): number {
    return millis(Atomics.load(this.#cells, slots.heardUs));
  }
}

/** Rounded down: a right to work may end a microsecond early, never late. */
function micros(ms: number | undefined): bigint {
  return ms === undefined || !Number.isFinite(ms) ? never : BigInt(Math.floor(ms * 1_000));
}

function millis(us: bigint): number {
  return us === never ? Number.NEGATIVE_INFINITY : Number(us) / 1_000;
}
