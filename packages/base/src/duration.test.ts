import { describe, expect, it } from "vitest";
import { formatDuration, parseDuration } from "./duration.ts";

describe("parseDuration", () => {
  it.each([
    ["15s", 15_000],
    ["500ms", 500],
    ["1m30s", 90_000],
    ["2h", 7_200_000],
    ["1h2m3s4ms", 3_723_004],
    ["0s", 0],
    ["0.5s", 500],
    ["1.5m", 90_000],
    ["1s1s", 2_000],
    ["007s", 7_000],
    ["1000000000s", 1e12],
  ])("reads %s", (text, ms) => expect(parseDuration(text)).toBe(ms));

  it.each([
    ["4.1m", 246_000],
    ["8.2m", 492_000],
    ["2.3h", 8_280_000],
    ["1.1h", 3_960_000],
    ["0.1s0.2s", 300],
  ])("reads %s without the dust of binary fractions", (text, ms) => expect(parseDuration(text)).toBe(ms));

  it.each([
    ["a bare number, which means three things in three places", "15"],
    ["a number", 15],
    ["NaN", Number.NaN],
    ["nothing", undefined],
    ["null", null],
    ["an empty text", ""],
    ["a negative duration", "-15s"],
    ["a signed duration", "+15s"],
    ["an unknown unit", "15d"],
    ["a unit in capitals", "15S"],
    ["a unit alone", "s"],
    ["white space around it", " 15s"],
    ["a line break behind it", "15s\n"],
    ["white space within it", "15 s"],
    ["a comma", "1,5s"],
    ["a bare fraction", ".5s"],
    ["an exponent", "1e3s"],
    ["a number at the end", "1m30"],
    ["an object", { s: 15 }],
  ])("refuses %s", (_what, value) => expect(parseDuration(value)).toBeUndefined());
});

describe("formatDuration", () => {
  it.each([
    [15_000, "15s"],
    [1_500, "1.5s"],
    [90_000, "1.5m"],
    [60_000, "1m"],
    [61_000, "61s"],
    [999, "999ms"],
    [1_000, "1s"],
    [1_010, "1.01s"],
    [1_001, "1001ms"],
    [14_750, "14.75s"],
    [59_990, "59.99s"],
    [86_400_000, "24h"],
    [5_400_000, "1.5h"],
    [0, "0ms"],
    [2 / 3, "0.667ms"],
  ])("writes %d ms as %s", (ms, text) => expect(formatDuration(ms)).toBe(text));

  it("writes what parseDuration reads", () => {
    for (const ms of [1, 20, 999, 1_000, 1_500, 14_750, 60_000, 61_000, 66_000, 90_000, 246_000, 3_600_000]) {
      expect(parseDuration(formatDuration(ms))).toBe(ms);
    }
  });
});
