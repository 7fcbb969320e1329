import fc from "fast-check";
import { expect, it } from "vitest";
import { type ElectionLine, newElection } from "../model/election.ts";
import { heightOf, place, rowsOf, visible } from "./rows.ts";

function withReplicas(count: number): ElectionLine {
  const line = newElection("n/x", 0);
  line.replicas = Array.from({ length: count }, (_, index) => ({ id: `r${index}` }));
  return line;
}

it("each replica has a row, up to six; all others share one", () => {
  expect(rowsOf(withReplicas(3)).map(({ label }) => label)).toEqual(["r0", "r1", "r2"]);
  const line = withReplicas(20);
  line.terms = [{ holder: "r2" }] as ElectionLine["terms"];
  expect(rowsOf(line).map(({ label }) => label)).toEqual([
    "r2",
    "r15",
    "r16",
    "r17",
    "r18",
    "r19",
    "14 others",
  ]);
});

it("the height has room for every row", () => {
  for (const count of [1, 3, 6, 7, 100]) {
    const line = withReplicas(count);
    expect(heightOf(line) - heightOf(withReplicas(1))).toBe((rowsOf(line).length - 1) * 26);
  }
});

it("finds the visible elections that a comparison of all finds", () => {
  fc.assert(
    fc.property(
      fc.array(fc.integer({ min: 1, max: 9 }), { maxLength: 30 }),
      fc.integer({ min: 0, max: 4_000 }),
      fc.integer({ min: 1, max: 900 }),
      (counts, fromPx, lengthPx) => {
        const { placed } = place(counts.map(withReplicas));
        const expected = placed.filter(
          ({ topPx, heightPx }) => topPx + heightPx > fromPx && topPx < fromPx + lengthPx,
        );
        expect(visible(placed, fromPx, fromPx + lengthPx)).toEqual(expected);
      },
    ),
  );
});
