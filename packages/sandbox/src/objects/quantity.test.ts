import { expect, test } from "vitest";
import { canonicalQuantity, compareQuantities, roundToMilli } from "./quantity.ts";

test.each([
  ["0.5", "500m"],
  ["1000m", "1"],
  ["1024Ki", "1Mi"],
  ["1e3", "1e3"],
  ["123456789012345678901", "123456789012345678901"],
  ["0.5Ki", "512"],
  ["1500Ki", "1500Ki"],
  [" 1", "1"],
  ["1.5Gi", "1536Mi"],
  ["+5", "+5"],
  ["1E", "1E"],
  [".5", "500m"],
  ["5.", "5."],
  ["12000M", "12G"],
  ["1E6", "1E6"],
  ["100e-3", "100e-3"],
  ["-0", "0"],
  ["0Ki", "0"],
  ["1000Ki", "1000Ki"],
  ["1048576", "1048576"],
  ["0.1n", "1n"],
  ["-1500m", "-1500m"],
])("%s is printed %s", (text, expected) => {
  expect(canonicalQuantity(text)).toBe(expected);
  expect(compareQuantities(text, expected)).toBe(0);
});

test.each(["abc", "1.2.3", "1Xi", "", ".", "true", "1 Gi"])("%s is no quantity", (text) => {
  expect(() => canonicalQuantity(text)).toThrow("quantities must match the regular expression");
});

test.each(["1e", "1mm", "1KiB"])("%s has no known suffix", (text) => {
  expect(() => canonicalQuantity(text)).toThrow(/suffix|regular expression/);
});

test.each([
  ["1", "1000m", 0],
  ["1Gi", "1G", 1],
  ["1500m", "2", -1],
  ["-1", "0", -1],
])("%s compared with %s is %d", (a, b, expected) => {
  expect(compareQuantities(a, b)).toBe(expected);
});

test("pods round up to thousandths", () => {
  expect(roundToMilli("1n")).toBe("1m");
  expect(roundToMilli("500m")).toBe("500m");
});
