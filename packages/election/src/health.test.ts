import { describe, expect, it } from "vitest";
import { healthOf } from "./health.ts";
import { config } from "./testing/candidates.ts";

const facts = {
  nowMs: 100_000,
  config: { ...config, drainTimeoutMs: 60_000 },
  lock: "lease x/y",
  lastContactMs: 99_000,
};

describe("healthOf", () => {
  it.each([
    ["a candidate that waits", { work: undefined }, true, "waiting"],
    ["a leader", { work: { isValid: true, askedToStopMs: undefined } }, true, "leading"],
    ["work that stops", { work: { isValid: true, askedToStopMs: 40_001 } }, true, "leading"],
    [
      "work that ignores its signal",
      { work: { isValid: true, askedToStopMs: 40_000 } },
      false,
      "the work was asked to stop 60 s ago and has not stopped",
    ],
    [
      "work after its term",
      { work: { isValid: false, askedToStopMs: 0 } },
      false,
      "the term has expired, but its work has not stopped",
    ],
    ["a candidate with contact two leases ago", { work: undefined, lastContactMs: 70_000 }, true, "waiting"],
    [
      "a candidate without contact",
      { work: undefined, lastContactMs: 69_999 },
      false,
      "no contact with lease x/y for 30 s",
    ],
  ])("%s", (_what, given, healthy, message) => {
    expect(healthOf({ ...facts, ...given })).toEqual({ healthy, message });
  });
  it("has no limit for work if the configuration has none", () => {
    const work = { isValid: true, askedToStopMs: -1e9 };
    expect(healthOf({ ...facts, config, work }).healthy).toBe(true);
  });
});
