import { expect, it } from "vitest";
import { ago, spell } from "./durations.ts";

it.each([
  [0, "0s"],
  [1_240, "1.2s"],
  [9_940, "9.9s"],
  [9_960, "10s"],
  [59_400, "59s"],
  [60_000, "1m"],
  [192_000, "3m12s"],
  [3_600_000, "1h"],
  [3_605_000, "1h"],
  [7_380_000, "2h3m"],
  [90_000_000, "1d1h"],
  [86_460_000, "1d"],
  [-1_500, "-1.5s"],
])("%d ms are %s", (ms, words) => {
  expect(spell(ms)).toBe(words);
});

it("a negative age is in the future", () => {
  expect([ago(3_000), ago(-3_000)]).toEqual(["3s ago", "in 3s"]);
});
