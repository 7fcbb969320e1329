import { beforeAll, expect, it } from "vitest";
import { loadModules } from "../load-modules.ts";
import { simulateSet } from "./simulation.ts";

beforeAll(loadModules);

it.each(Array.from({ length: 24 }, (_, index) => index + 1))("seed %i violates no rule", async (seed) => {
  const { violations, starts } = await simulateSet(seed);
  expect(violations).toEqual([]);
  expect(starts).toBeGreaterThan(0);
});

it.each(["mixed", "wide"] as const)("a seed gives the same history again, %s", async (width) => {
  const [one, other] = [await simulateSet(7, width), await simulateSet(7, width)];
  expect(one.lines).toEqual(other.lines);
});
