import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { SharedStatus } from "./shared-status.ts";

/** The same status in another thread. */
const inOtherThread = (status: SharedStatus) => new SharedStatus(status.buffer);

describe("SharedStatus", () => {
  it("has no values before anything is published", () => {
    const status = new SharedStatus();
    expect([status.validUntil(), status.lastContactMs()]).toEqual([undefined, Number.NEGATIVE_INFINITY]);
    expect([inOtherThread(status).validUntil(), inOtherThread(status).lastContactMs()]).toEqual([
      undefined,
      Number.NEGATIVE_INFINITY,
    ]);
  });

  it("shows the other thread what was published, and that the term is over", () => {
    const status = new SharedStatus();
    const other = inOtherThread(status);
    status.publish({ monoMs: 1_234.5, wallMs: 1_700_000_000_000 }, 99);
    expect(other.validUntil()).toEqual({ monoMs: 1_234.5, wallMs: 1_700_000_000_000 });
    expect(other.lastContactMs()).toBe(99);
    status.publish(undefined, 100);
    expect([other.validUntil(), other.lastContactMs()]).toEqual([undefined, 100]);
  });

  it("keeps its values when another thread opens it", () => {
    const status = new SharedStatus();
    status.publish({ monoMs: 5, wallMs: 6 }, 7);
    inOtherThread(status);
    expect(status.validUntil()).toEqual({ monoMs: 5, wallMs: 6 });
  });

  it("never shows a later end than was published, nor one that is a microsecond too early", () => {
    const ms = fc.double({ min: 0, max: 4e12, noNaN: true });
    fc.assert(
      fc.property(ms, ms, (monoMs, wallMs) => {
        const status = new SharedStatus();
        status.publish({ monoMs, wallMs }, 0);
        const shown = inOtherThread(status).validUntil() ?? { monoMs: -1, wallMs: -1 };
        for (const [now, then] of [
          [shown.monoMs, monoMs],
          [shown.wallMs, wallMs],
        ] as const) {
          // Beyond what a number of this size can hold at all.
          const roundingMs = 1e-9 + then * 1e-15;
          expect(now).toBeLessThanOrEqual(then + roundingMs);
          expect(then - now).toBeLessThan(0.001 + roundingMs);
        }
      }),
    );
  });

  it("never shows more time between the two stores of an update than before or after it", () => {
    const status = new SharedStatus();
    const cells = new BigInt64Array(status.buffer);
    status.publish({ monoMs: 10, wallMs: 20 }, 0);
    // A renewal of which only the first store has been made.
    cells[0] = 30_000n;
    expect(inOtherThread(status).validUntil()).toEqual({ monoMs: 30, wallMs: 20 });
    // The first store of a term's end: nothing may run any more.
    status.publish({ monoMs: 30, wallMs: 40 }, 0);
    const before = cells[1];
    status.publish(undefined, 0);
    cells[1] = before as bigint;
    expect(inOtherThread(status).validUntil()).toBeUndefined();
    // The first store of a new term: not yet.
    cells[0] = 50_000n;
    cells[1] = -(2n ** 62n);
    expect(inOtherThread(status).validUntil()?.wallMs).toBe(Number.NEGATIVE_INFINITY);
  });
});
