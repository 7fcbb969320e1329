import { describeProblems } from "@tenure/base";
import { expect, it } from "vitest";
import { flagOf } from "../../settings/problems.ts";
import type { RunFlags } from "./child-flags.ts";
import { lostLeaseWarnings } from "./lost-lease-warnings.ts";

const warned = (flags: RunFlags) => describeProblems(lostLeaseWarnings(flags), flagOf);

it("warns of a child that needs longer to stop than a lost lease leaves", () => {
  expect(warned({ childShutdown: "20s" })).toEqual([
    "--child-shutdown is longer than the time that the child has when the lease is lost (4.25s), but is 20s; " +
      "raise --lease-duration by 16s or more, or make sure that the child may be killed",
  ]);
  expect(warned({ childDrain: "5s" })).toEqual([expect.stringContaining("--child-drain is longer")]);
});

it("does not warn if the time is enough, or if nobody said how long the child needs", () => {
  expect(warned({ childShutdown: "4s" })).toEqual([]);
  expect(warned({ childShutdown: "20s", leaseDuration: "40s" })).toEqual([]);
  expect(warned({ stopTimeout: "25s" })).toEqual([]);
});

it("leaves flags that are not valid to others", () => {
  expect(warned({ childShutdown: "soon" })).toEqual([]);
  expect(warned({ childShutdown: "20s", leaseDuration: "-1" })).toEqual([]);
});
