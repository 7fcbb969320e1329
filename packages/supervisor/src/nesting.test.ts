import { describe, expect, it } from "vitest";
import { checkNesting } from "./nesting.ts";

const good = {
  podGraceMs: 30_000,
  stopTimeoutMs: 25_000,
  childShutdownMs: 20_000,
  drainMs: 15_000,
  leaseDurationMs: 15_000,
  renewDeadlineMs: 10_000,
  killMarginMs: 500,
};

describe("checkNesting", () => {
  it("accepts what the guide says", () => {
    expect(checkNesting(good)).toEqual([]);
  });

  it("checks only what it is told", () => {
    expect(checkNesting({ stopTimeoutMs: 60_000 })).toEqual([]);
  });

  it("names the levels, the numbers and the way out", () => {
    expect(checkNesting({ ...good, podGraceMs: 25_500 })).toEqual([
      "the pod's grace period must be at least 1s longer than the stop timeout, or it is cut off: 25.5s < 25s + 1s; " +
        "raise the pod's grace period to 26s or lower the stop timeout",
    ]);
  });

  it("accepts exactly the margin", () => {
    expect(checkNesting({ ...good, podGraceMs: 26_000 })).toEqual([]);
    expect(checkNesting({ ...good, podGraceMs: 25_999 })).toHaveLength(1);
  });

  it("compares with the next level that is known", () => {
    expect(checkNesting({ stopTimeoutMs: 10_000, drainMs: 15_000 })[0]).toMatch(
      /^the stop timeout must be at least 1s longer than the child's drain/,
    );
  });

  it("leaves room for the kill before the hard deadline", () => {
    // 15 s less 1 % less 100 ms is 14.75 s.
    expect(checkNesting({ ...good, renewDeadlineMs: 14_250 })).toEqual([]);
    expect(checkNesting({ ...good, renewDeadlineMs: 14_251 })).toEqual([
      "renewDeadline and the time to kill must end before the hard deadline, which is leaseDuration less 1 % for clocks and 100ms: " +
        "14251ms + 500ms > 14.75s; raise leaseDuration to 16s, or lower renewDeadline or the time to kill",
    ]);
  });

  it("what it advises is accepted", () => {
    for (const renewDeadlineMs of [700, 14_251, 59_000]) {
      const [problem = ""] = checkNesting({ ...good, leaseDurationMs: 1_000, renewDeadlineMs });
      const advised = Number(
        /leaseDuration to ([\d.]+)s/.exec(problem)?.[1] ?? Number(/to ([\d.]+)m,/.exec(problem)?.[1]) * 60,
      );
      expect(checkNesting({ ...good, renewDeadlineMs, leaseDurationMs: advised * 1_000 })).toEqual([]);
    }
  });

  it("names every problem at once", () => {
    const all = {
      podGraceMs: 1_000,
      stopTimeoutMs: 1_000,
      childShutdownMs: 1_000,
      drainMs: 1_000,
      leaseDurationMs: 2_000,
      renewDeadlineMs: 2_000,
    };
    expect(checkNesting(all)).toHaveLength(4);
    expect(checkNesting({ stopTimeoutMs: 0, drainMs: Number.NaN, killMarginMs: -1 })).toEqual([
      "the stop timeout must be greater than zero: 0ms",
      "the child's drain must be greater than zero: NaNms",
      "the time to kill must be greater than zero: -1ms",
    ]);
  });
});
