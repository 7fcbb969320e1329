import { describe, expect, it } from "vitest";
import { setHealthOf } from "./set-health.ts";

const facts = {
  nowMs: 100_000,
  leaseDurationMs: 15_000,
  stopTimeoutMs: 60_000,
  set: "shards prod/billing",
  lastContactMs: 99_000,
  noun: "shard",
  work: [],
} as const;
const working = (index: number, more = {}) => ({ index, isValid: true, askedToStopMs: undefined, ...more });

describe("setHealthOf", () => {
  it("says on how many shards a member works", () => {
    expect(setHealthOf(facts)).toEqual({ healthy: true, message: "waiting" });
    expect(setHealthOf({ ...facts, work: [working(3)] }).message).toBe("working on 1 shard");
    expect(setHealthOf({ ...facts, noun: "permit", work: [working(0), working(1)] }).message).toBe(
      "working on 2 permits",
    );
  });

  it("is unhealthy if work goes on that another member may do", () =>
    expect(setHealthOf({ ...facts, work: [working(1), working(7, { isValid: false })] })).toEqual({
      healthy: false,
      message: "shard 7 is lost, but its work has not stopped",
    }));

  it("is unhealthy if work does not stop, from the limit on", () => {
    const at = (askedToStopMs: number) => setHealthOf({ ...facts, work: [working(7, { askedToStopMs })] });
    expect(at(40_001).healthy).toBe(true);
    expect(at(40_000)).toEqual({
      healthy: false,
      message: "the work of shard 7 was asked to stop 60 s ago and has not stopped",
    });
  });

  it("is unhealthy without contact for more than two leases", () => {
    expect(setHealthOf({ ...facts, lastContactMs: 70_000 }).healthy).toBe(true);
    expect(setHealthOf({ ...facts, lastContactMs: 69_999 })).toEqual({
      healthy: false,
      message: "no contact with shards prod/billing for 30 s",
    });
  });
});
