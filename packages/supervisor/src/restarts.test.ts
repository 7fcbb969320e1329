import { describe, expect, it } from "vitest";
import { backOffMs, decideRestart, noRestarts, type RestartHistory } from "./restarts.ts";

const policy = { maxRestarts: 5, windowMs: 600_000, stableAfterMs: 60_000 };

/** The delays before each restart of children that ran so long; undefined: given up. */
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

describe("back-off", () => {
  it("is nothing, then 1, 2, 4 … 30 s", () => {
    expect([0, 1, 2, 3, 4, 5, 6, 7, 50].map(backOffMs)).toEqual([
      0, 1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000, 30_000,
    ]);
  });
});

describe("decideRestart", () => {
  it("restarts at once, then ever later, then gives up", () => {
    expect(delays([10, 10, 10, 10, 10, 10])).toEqual([0, 1_000, 2_000, 4_000, 8_000, undefined]);
  });

  it("begins anew after a stable minute", () => {
    expect(delays([10, 10, 60_000, 10])).toEqual([0, 1_000, 0, 1_000]);
    expect(delays([10, 10, 59_999])).toEqual([0, 1_000, 2_000]);
  });

  it("forgets restarts that are out of the window", () => {
    const stable = Array.from({ length: 20 }, () => 130_000);
    expect(delays(stable)).toEqual(stable.map(() => 0));
    expect(delays(Array.from({ length: 6 }, () => 110_000)).at(-1)).toBeUndefined();
  });

  it("never restarts with none allowed", () => {
    expect(delays([1_000_000], { ...policy, maxRestarts: 0 })).toEqual([undefined]);
  });
});
