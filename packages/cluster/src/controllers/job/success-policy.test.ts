import { expect, it } from "vitest";
import type { Job } from "../../client/workloads.ts";
import { parseIndexes } from "./indexes.ts";
import { metSuccessRule } from "./success-policy.ts";

type Rules = NonNullable<Job["spec"]["successPolicy"]>["rules"];

it.each<[string, Rules, string, string | undefined]>([
  ["a number is reached", [{ succeededCount: 2 }], "1,4", "Matched rules at index 0"],
  ["a number is missed", [{ succeededCount: 3 }], "1,4", undefined],
  ["all named indexes succeeded", [{ succeededIndexes: "0-2" }], "0-2", "Matched rules at index 0"],
  ["one of them is missing", [{ succeededIndexes: "0-2" }], "0,1,4", undefined],
  [
    "enough of them succeeded",
    [{ succeededIndexes: "0-2", succeededCount: 2 }],
    "0,1",
    "Matched rules at index 0",
  ],
  ["others do not count", [{ succeededIndexes: "0-2", succeededCount: 2 }], "0,3,4", undefined],
  [
    "the second rule is met",
    [{ succeededIndexes: "7" }, { succeededCount: 1 }],
    "3",
    "Matched rules at index 1",
  ],
  ["nothing has succeeded", [{ succeededCount: 0 }], "", undefined],
])("%s", (_name, rules, succeeded, expected) => {
  const job = { metadata: {}, spec: { successPolicy: { rules } } } as unknown as Job;
  expect(metSuccessRule(job, parseIndexes(succeeded))).toBe(expected);
});
