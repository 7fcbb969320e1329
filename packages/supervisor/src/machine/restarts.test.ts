import { describe, expect, it } from "vitest";
import { decideRestart, noRestarts, type RestartHistory } from "./restarts.ts";

const policy = { maxRestarts: 5, windowMs: 600_000, stableAfterMs: 60_000 };

/** The delay before the restart of each child, given how long each ran; undefined where there is no restart. */
function delays(ranMs: readonly number[], given = policy): (number | undefined)[] {
  let history: RestartHistory = noRestarts;
  let nowMs = 0;
  return ranMs.map((ms) => {
    nowMs += ms;
    const decision = decideRestart(given, history, nowMs, ms);
    if (decision.type === "give-up") return undefined;
    history = decision.history;
    nowMs += decision.delayMs;
    return decision.delayMs;
  });
}

describe("decideRestart", () => {
  it("restarts at once, then after growing delays, then gives up", () => {
    expect(delays([10, 10, 10, 10, 10, 10])).toEqual([0, 1_000, 2_000, 4_000, 8_000, undefined]);
  });

  it("waits for 30 s at most", () => {
    const ranMs = Array.from({ length: 51 }, () => 10);
    const waitedMs = delays(ranMs, { ...policy, maxRestarts: 100, windowMs: 3_600_000 });
    expect(waitedMs.slice(0, 8)).toEqual([0, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000]);
    expect(waitedMs.at(50)).toBe(30_000);
  });

  it("restarts at once again after a stable minute", () => {
    expect(delays([10, 10, 60_000, 10])).toEqual([0, 1_000, 0, 1_000]);
    expect(delays([10, 10, 59_999])).toEqual([0, 1_000, 2_000]);
  });

  it("does not count restarts outside of the window", () => {
    const stable = Array.from({ length: 20 }, () => 130_000);
    expect(delays(stable)).toEqual(stable.map(() => 0));
    expect(delays(Array.from({ length: 6 }, () => 110_000)).at(-1)).toBeUndefined();
  });

  it("never restarts if maxRestarts is 0", () => {
    expect(delays([1_000_000], { ...policy, maxRestarts: 0 })).toEqual([undefined]);
  });
});
