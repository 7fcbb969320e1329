import { describeProblems } from "@tenure/base";
import { describe, expect, it } from "vitest";
import {
  checkTimings,
  clockRateTolerance,
  hardDeadlineFor,
  marginMs,
  type PresetName,
  presets,
  resolveTimings,
  type TimingOptions,
  timingWarnings,
} from "./timings.ts";

function problemsOf(options: unknown): readonly string[] {
  return describeProblems(checkTimings(options as TimingOptions).problems);
}

describe("accepts", () => {
  it("the defaults: client-go's 15/10/2, a renewal every 3 s, four attempts to the soft end", () => {
    expect(resolveTimings()).toEqual({
      leaseDurationMs: 15_000,
      renewDeadlineMs: 10_000,
      retryPeriodMs: 2_000,
      renewIntervalMs: 3_000,
      hardDeadlineMs: 14_750,
      attemptTimeoutMs: 2_500,
    });
  });

  it.each([
    ["standard", 15_000, 10_000, 2_000, 3_000, 14_750],
    ["fast-failover", 10_000, 8_000, 1_000, 2_000, 9_800],
    ["low-load", 60_000, 45_000, 5_000, 12_000, 59_300],
  ] as const)("the preset %s", (preset, lease, renew, retry, interval, hard) => {
    expect(resolveTimings({ preset })).toMatchObject({
      leaseDurationMs: lease,
      renewDeadlineMs: renew,
      retryPeriodMs: retry,
      renewIntervalMs: interval,
      hardDeadlineMs: hard,
    });
  });

  it("every preset that there is, and with time for the work to stop", () => {
    for (const preset of Object.keys(presets) as PresetName[]) {
      expect(problemsOf({ preset, stopWithin: "1s" })).toEqual([]);
    }
  });

  it("a preset with one number changed", () => {
    expect(resolveTimings({ preset: "low-load", retryPeriod: "3s" })).toMatchObject({
      leaseDurationMs: 60_000,
      retryPeriodMs: 3_000,
    });
  });

  it.each([
    [
      "15/2/1, as client-go's own test has it",
      { leaseDuration: "15s", renewDeadline: "2s", retryPeriod: "1s" },
    ],
    ["OpenShift's 137/107/26", { leaseDuration: "137s", renewDeadline: "107s", retryPeriod: "26s" }],
    ["a lease of one second", { leaseDuration: "1s", renewDeadline: "600ms", retryPeriod: "100ms" }],
    ["a lease of a day", { leaseDuration: "24h", renewDeadline: "20h", retryPeriod: "1h" }],
    ["a lease in minutes that binary fractions cannot say", { leaseDuration: "4.1m" }],
    ["a soft end on the hard deadline itself", { renewDeadline: "14.75s" }],
    ["a stop that takes all the time there is", { stopWithin: "4.75s" }],
    ["fractions of seconds, but for the lease", { renewDeadline: "9.5s", retryPeriod: "1.25s" }],
    ["a renewal at half of the renew deadline", { renewInterval: "5s" }],
    ["no time to stop", { stopWithin: "0s" }],
  ])("%s", (_what, options) => expect(problemsOf(options)).toEqual([]));

  it("the renewal interval is a fifth of the lease or a third of the deadline, whichever is less", () => {
    expect(resolveTimings({ leaseDuration: "15s", renewDeadline: "12s" }).renewIntervalMs).toBe(3_000);
    expect(resolveTimings({ leaseDuration: "60s", renewDeadline: "9s" }).renewIntervalMs).toBe(3_000);
  });

  it.each([
    ["a second where that would be less: client-go does not see two in one", "3s", "2s", 1_000],
    ["a second at half of the deadline, and no later than that", "4s", "2s", 1_000],
    ["as short as it has to be where a second would not leave time for another try", "3s", "1.9s", 600],
    ["as short as it has to be for a lease of a second", "1s", "600ms", 200],
    ["a second for a lease of five, as a fifth of it is", "5s", "3s", 1_000],
    ["more than a second where it may be", "6s", "4s", 1_200],
  ])("the renewal interval is %s", (_what, leaseDuration, renewDeadline, expectedMs) => {
    const timings = resolveTimings({ leaseDuration, renewDeadline, retryPeriod: "100ms" });
    expect(timings.renewIntervalMs).toBe(expectedMs);
  });

  it("a renewal interval below a second, for who asks for it", () => {
    expect(
      resolveTimings({
        leaseDuration: "3s",
        renewDeadline: "2s",
        retryPeriod: "500ms",
        renewInterval: "300ms",
      }).renewIntervalMs,
    ).toBe(300);
  });

  it("the renewal interval that was asked for", () => {
    expect(resolveTimings({ renewInterval: "1s" }).renewIntervalMs).toBe(1_000);
  });

  it("the hard deadline leaves the lease less one percent and a margin", () => {
    expect(clockRateTolerance).toBe(0.01);
    expect(marginMs).toBe(100);
    expect(hardDeadlineFor(15_000)).toBe(14_750);
  });
});

describe("rejects, with the numbers,", () => {
  const notADuration = (name: string, value: string) =>
    `${name} must be a duration like "15s" or "500ms", but is ${value}`;
  it.each<[string, Record<string, unknown>, string[]]>([
    ["zero", { retryPeriod: "0s" }, ["retryPeriod must be greater than zero, but is 0s"]],
    ["a zero lease", { leaseDuration: "0s" }, ["leaseDuration must be greater than zero, but is 0s"]],
    ["a zero interval", { renewInterval: "0ms" }, ["renewInterval must be greater than zero, but is 0ms"]],
    ["a negative duration", { leaseDuration: "-15s" }, [notADuration("leaseDuration", '"-15s"')]],
    ["a negative time to stop", { stopWithin: "-1s" }, [notADuration("stopWithin", '"-1s"')]],
    ["NaN", { renewDeadline: Number.NaN }, [notADuration("renewDeadline", "NaN")]],
    ["a bare number", { leaseDuration: 15 }, [notADuration("leaseDuration", "15")]],
    ["a bare number as text", { leaseDuration: "15" }, [notADuration("leaseDuration", '"15"')]],
    ["an empty interval", { renewInterval: "" }, [notADuration("renewInterval", '""')]],
    [
      "a lease with one millisecond too many",
      { leaseDuration: "15001ms" },
      ["leaseDuration must be whole seconds, because a Lease stores whole seconds, but is 15001ms"],
    ],
    [
      "fractions of a second in the lease",
      { leaseDuration: "15.5s" },
      ["leaseDuration must be whole seconds, because a Lease stores whole seconds, but is 15.5s"],
    ],
    [
      "a lease below a second",
      { leaseDuration: "900ms", renewDeadline: "500ms", retryPeriod: "100ms" },
      ["leaseDuration must be whole seconds, because a Lease stores whole seconds, but is 900ms"],
    ],
    [
      "a lease of 10^9 seconds",
      { leaseDuration: "1000000000s" },
      ["leaseDuration must be at most 24h, but is 1000000000s"],
    ],
    [
      "a lease of a day and a second",
      { leaseDuration: "86401s" },
      ["leaseDuration must be at most 24h, but is 86401s"],
    ],
    [
      "a renew deadline that is the lease",
      { renewDeadline: "15s" },
      ["renewDeadline must be less than leaseDuration (15s), but is 15s"],
    ],
    [
      "a renew deadline longer than the lease",
      { renewDeadline: "20s" },
      ["renewDeadline must be less than leaseDuration (15s), but is 20s"],
    ],
    [
      "a renew deadline past the hard deadline",
      { renewDeadline: "14.8s" },
      [
        "renewDeadline plus stopWithin must not pass the hard deadline, which is leaseDuration less 1 % for clock drift and " +
          "100ms (14.75s), but is 14.8s + 0ms",
      ],
    ],
    [
      "a stop that takes longer than the timings leave",
      { stopWithin: "5s" },
      [
        "renewDeadline plus stopWithin must not pass the hard deadline, which is leaseDuration less 1 % for clock drift and " +
          "100ms (14.75s), but is 10s + 5s",
      ],
    ],
    [
      "a retry period with no room for a second try",
      { renewDeadline: "2.4s" },
      ["renewDeadline must be greater than 1.2 times retryPeriod (2.4s), but is 2.4s"],
    ],
    [
      "a renewal that could not be repeated",
      { renewInterval: "5001ms" },
      [
        "renewInterval must be at most half of renewDeadline, so that a failed renewal can be repeated (5s), " +
          "but is 5001ms",
      ],
    ],
    [
      "an unknown preset",
      { preset: "turbo" },
      ['preset must be one of standard, fast-failover, low-load, but is "turbo"'],
    ],
    [
      "a preset that every object has",
      { preset: "toString" },
      ['preset must be one of standard, fast-failover, low-load, but is "toString"'],
    ],
  ])("%s", (_what, options, problems) => expect(problemsOf(options)).toEqual(problems));

  it("everything at once, each problem once, in one message", () => {
    const options = {
      preset: "turbo",
      leaseDuration: "1.5s",
      renewDeadline: "20s",
      retryPeriod: "17s",
      renewInterval: "11s",
      stopWithin: "soon",
    };
    expect(problemsOf(options)).toEqual([
      'preset must be one of standard, fast-failover, low-load, but is "turbo"',
      notADuration("stopWithin", '"soon"'),
      "leaseDuration must be whole seconds, because a Lease stores whole seconds, but is 1.5s",
      "renewDeadline must be less than leaseDuration (1.5s), but is 20s",
      "renewDeadline must be greater than 1.2 times retryPeriod (20.4s), but is 20s",
      "renewInterval must be at most half of renewDeadline, so that a failed renewal can be repeated (10s), but is 11s",
    ]);
    expect(() => resolveTimings(options as unknown as TimingOptions)).toThrow(
      /^preset must .*; stopWithin must .*; .* but is 11s\.$/,
    );
  });

  it("three bad values are three problems, with no comparison of what was not read", () => {
    expect(problemsOf({ leaseDuration: 15, renewDeadline: 10, retryPeriod: 2 })).toEqual([
      notADuration("leaseDuration", "15"),
      notADuration("renewDeadline", "10"),
      notADuration("retryPeriod", "2"),
    ]);
  });
});

describe("periods that would only load the API server", () => {
  it("are rejected with the shortest period", () => {
    expect(problemsOf({ retryPeriod: "49ms", renewInterval: "10ms" })).toEqual([
      "retryPeriod must be at least 50ms, but is 49ms",
      "renewInterval must be at least 50ms, but is 10ms",
    ]);
    expect(problemsOf({ retryPeriod: "50ms", renewInterval: "50ms" })).toEqual([]);
  });
});

describe("timingWarnings", () => {
  it.each<[TimingOptions, string[]]>([
    [{}, []],
    [{ preset: "fast-failover" }, []],
    [{ preset: "low-load" }, []],
    [{ retryPeriod: "4999ms" }, []],
    [
      { retryPeriod: "5s" },
      [
        "renewDeadline should be greater than 2 times retryPeriod, so that a failed renewal can be repeated (10s), but is 10s",
      ],
    ],
    [{ retryPeriod: "9s" }, []],
    [{ retryPeriod: "soon" }, []],
  ])("of %j are %j; what is an error draws no warning", (options, warnings) => {
    expect(describeProblems(timingWarnings(options))).toEqual(warnings);
  });
});
