import { expect, it } from "vitest";
import { inFlagWords, nearest, refuse } from "./problems.ts";

it("says nothing when nothing is wrong, one sentence for one problem, a list for more", () => {
  expect(() => refuse([])).not.toThrow();
  expect(() => refuse(["a is wrong"])).toThrow(/^a is wrong$/);
  expect(() => refuse(["a", "b"])).toThrow("Cannot start as 2 things are wrong:\n  - a\n  - b");
});

it("speaks of flags as they are typed", () => {
  expect(
    inFlagWords("renewDeadline must be less than leaseDuration", {
      leaseDuration: "--lease-duration",
      renewDeadline: "--renew-deadline",
    }),
  ).toBe("--renew-deadline must be less than --lease-duration");
});

it.each([
  ["leese", "lease"],
  ["LEASE", "lease"],
  ["config-map", "configmap"],
  ["banana", undefined],
  ["x", undefined],
])("nearest to %s is %s", (typed, expected) => {
  expect(nearest(typed, ["configmap", "lease", "endpoints"])).toBe(expected);
});
