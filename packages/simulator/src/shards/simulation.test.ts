import { expect, it } from "vitest";
import { simulateSet } from "./simulation.ts";

it.each(Array.from({ length: 24 }, (_, index) => index + 1))("seed %i violates no rule", async (seed) => {
  const { violations, starts } = await simulateSet(seed);
  expect(violations).toEqual([]);
  expect(starts).toBeGreaterThan(0);
});

it("a seed gives the same history again", async () => {
  const [one, other] = [await simulateSet(5), await simulateSet(5)];
  expect(one.lines).toEqual(other.lines);
});
