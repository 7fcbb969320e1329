import { expect, it } from "vitest";
import { groups } from "./specs.mjs";

const all = groups.flatMap(({ specs, cannot = {} }) => [...specs, ...Object.keys(cannot)]);

it("each spec is named once, by its full name without the mark of conformance", () => {
  expect(all.filter((name, index) => all.indexOf(name) !== index)).toEqual([]);
  expect(all.filter((name) => !/^\[sig-[a-z-]+\] \S/.test(name) || name.includes("[Conformance]"))).toEqual(
    [],
  );
});

it("each spec that cannot pass has a reason in one sentence", () => {
  const reasons = groups.flatMap(({ cannot = {} }) => Object.values(cannot));
  expect(reasons.filter((reason) => reason.length < 20 || reason.includes("\n"))).toEqual([]);
});
