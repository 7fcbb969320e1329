import { expect, test } from "vitest";
import { printAge } from "./age.ts";

// The format of kubectl: k8s.io/apimachinery/pkg/util/duration.
test.each([
  [0, "0s"],
  [119_000, "119s"],
  [120_000, "2m"],
  [125_000, "2m5s"],
  [600_000, "10m"],
  [3 * 3600_000, "3h"],
  [3 * 3600_000 + 60_000, "3h1m"],
  [47 * 3600_000, "47h"],
  [50 * 3600_000, "2d2h"],
  [9 * 24 * 3600_000, "9d"],
  [800 * 24 * 3600_000, "2y70d"],
  [-5000, "<invalid>"],
])("an age of %d ms is printed %s", (ms, text) => {
  expect(printAge(ms)).toBe(text);
});
