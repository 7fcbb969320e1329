import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { SharedStatus } from "./shared-status.ts";

/** The same board as another thread has it. */
const elsewhere = (board: SharedStatus) => new SharedStatus(board.buffer);

describe("SharedStatus", () => {
  it("says nothing before anything was published", () => {
    const board = new SharedStatus();
    expect([board.validUntil(), board.lastContactMs()]).toEqual([undefined, Number.NEGATIVE_INFINITY]);
    expect([elsewhere(board).validUntil(), elsewhere(board).lastContactMs()]).toEqual([
      undefined,
      Number.NEGATIVE_INFINITY,
    ]);
  });

  it("shows the other thread what was published, and that it was taken back", () => {
    const board = new SharedStatus();
    const other = elsewhere(board);
    board.publish({ monoMs: 1_234.5, wallMs: 1_700_000_000_000 }, 99);
    expect(other.validUntil()).toEqual({ monoMs: 1_234.5, wallMs: 1_700_000_000_000 });
    expect(other.lastContactMs()).toBe(99);
    board.publish(undefined, 100);
    expect([other.validUntil(), other.lastContactMs()]).toEqual([undefined, 100]);
  });

  it("one that is opened does not wipe what is there", () => {
    const board = new SharedStatus();
    board.publish({ monoMs: 5, wallMs: 6 }, 7);
    elsewhere(board);
    expect(board.validUntil()).toEqual({ monoMs: 5, wallMs: 6 });
  });

  it("never shows a later end than was published, and none that is a microsecond early", () => {
    const ms = fc.double({ min: 0, max: 4e12, noNaN: true });
    fc.assert(
      fc.property(ms, ms, (monoMs, wallMs) => {
        const board = new SharedStatus();
        board.publish({ monoMs, wallMs }, 0);
        const shown = elsewhere(board).validUntil() ?? { monoMs: -1, wallMs: -1 };
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

  it("half of an update is never more than either whole: a reader between two stores sees the sooner end", () => {
    const board = new SharedStatus();
    const cells = new BigInt64Array(board.buffer);
    board.publish({ monoMs: 10, wallMs: 20 }, 0);
    // A renewal of which only the first store has been made.
    cells[0] = 30_000n;
    expect(elsewhere(board).validUntil()).toEqual({ monoMs: 30, wallMs: 20 });
    // The first store of a term's end: nothing may run any more.
    board.publish({ monoMs: 30, wallMs: 40 }, 0);
    const before = cells[1];
    board.publish(undefined, 0);
    cells[1] = before as bigint;
    expect(elsewhere(board).validUntil()).toBeUndefined();
    // The first store of a new term: not yet.
    cells[0] = 50_000n;
    cells[1] = -(2n ** 62n);
    expect(elsewhere(board).validUntil()?.wallMs).toBe(Number.NEGATIVE_INFINITY);
  });
});
