import { describeProblems } from "@tenure/base";
import { describe, expect, it } from "vitest";
import { checkNesting as check, type Timeouts } from "./nesting.ts";

const checkNesting = (timeouts: Timeouts) => describeProblems(check(timeouts));

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
  it("accepts the timeouts of the guide", () => {
    expect(checkNesting(good)).toEqual([]);
  });

  it("checks only the timeouts that are given", () => {
    expect(checkNesting({ stopTimeoutMs: 60_000 })).toEqual([]);
  });

  it("names the timeouts, the numbers and the fix", () => {
    expect(checkNesting({ ...good, podGraceMs: 25_500 })).toEqual([
      "podGraceMs must be at least 1s longer than stopTimeoutMs (25s), but is 25.5s; " +
        "raise podGraceMs to 26s, or lower stopTimeoutMs",
    ]);
  });

  it("accepts exactly the margin", () => {
    expect(checkNesting({ ...good, podGraceMs: 26_000 })).toEqual([]);
    expect(checkNesting({ ...good, podGraceMs: 25_999 })).toHaveLength(1);
  });

  it("compares with the next timeout that is given", () => {
    expect(checkNesting({ stopTimeoutMs: 10_000, drainMs: 15_000 })[0]).toMatch(
      /^stopTimeoutMs must be at least 1s longer than drainMs/,
    );
  });

  it("leaves room for the kill before the hard deadline", () => {
    // 15 s less 1 % less 100 ms is 14.75 s.
    expect(checkNesting({ ...good, renewDeadlineMs: 14_250 })).toEqual([]);
    expect(checkNesting({ ...good, renewDeadlineMs: 14_251 })).toEqual([
      "renewDeadlineMs plus killMarginMs must not pass the hard deadline, which is leaseDurationMs less 1 % for clock drift " +
        "and 100ms (14.75s), but is 14251ms + 500ms; raise leaseDurationMs to 16s, or lower renewDeadlineMs or killMarginMs",
    ]);
  });

  it("accepts what it advises", () => {
    for (const renewDeadlineMs of [700, 14_251, 59_000]) {
      const [problem = ""] = checkNesting({ ...good, leaseDurationMs: 1_000, renewDeadlineMs });
      const advised = Number(
        /leaseDurationMs to ([\d.]+)s/.exec(problem)?.[1] ?? Number(/to ([\d.]+)m,/.exec(problem)?.[1]) * 60,
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
      "stopTimeoutMs must be greater than zero, but is 0ms",
      "drainMs must be greater than zero, but is NaNms",
      "killMarginMs must be greater than zero, but is -1ms",
    ]);
  });
});
