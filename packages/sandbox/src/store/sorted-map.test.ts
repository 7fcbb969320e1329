import fc from "fast-check";
import { expect, test } from "vitest";
import { SortedMap } from "./sorted-map.ts";

const key = fc.integer({ min: 0, max: 2000 }).map((number) => `/k/${number}`);
const step = fc.record({ key, remove: fc.boolean() });

/** Compares with a slow but obvious model: sorts the keys of a map for every question. */
test("a sorted map answers like a map whose keys are sorted for every question", () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 3000, size: "max" }), key, (steps, probe) => {
      const map = new SortedMap<number>();
      const model = new Map<string, number>();
      for (const [index, { key: at, remove }] of steps.entries()) {
        if (remove) {
          map.delete(at);
          model.delete(at);
        } else {
          map.set(at, index);
          model.set(at, index);
        }
      }
      const sorted = [...model.keys()].sort();
      expect(map.size).toBe(model.size);
      expect(map.get(probe)).toBe(model.get(probe));
      expect([...map.from("")]).toEqual(sorted.map((at) => model.get(at)));
      expect([...map.from(probe)]).toEqual(sorted.filter((at) => at >= probe).map((at) => model.get(at)));
      expect(map.rank(probe)).toBe(sorted.filter((at) => at < probe).length);
    }),
    { numRuns: 50 },
  );
});

test("keys that arrive in order, and keys that leave in order, keep the order", () => {
  const map = new SortedMap<string>();
  const keys = Array.from({ length: 5000 }, (_, index) => String(10_000 + index));
  for (const at of keys) map.set(at, at);
  expect([...map.from("")]).toEqual(keys);
  for (const at of keys.slice(0, 4000)) map.delete(at);
  expect([...map.from("")]).toEqual(keys.slice(4000));
  expect(map.rank("14500")).toBe(500);
});
