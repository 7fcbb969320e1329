import { expect, it } from "vitest";
import { parseQuantity, thousandths } from "./quantity.ts";

it.each([
  ["1", 1000],
  ["250m", 250],
  ["0.1", 100],
  ["1Ki", 1_024_000],
  ["2k", 2_000_000],
  ["1e3", 1_000_000],
  ["1n", 1],
  ["", 0],
  [undefined, 0],
])("%s is %s thousandths", (text, expected) => {
  expect(thousandths(text)).toBe(expected);
});

it.each([
  ["500m", 0.5],
  ["1.5Gi", 1.5 * 1024 ** 3],
  ["2e3", 2000],
  ["64", 64],
  ["128M", 128e6],
  ["cpu", 0],
])("%s is %d", (text, value) => {
  expect(parseQuantity(text)).toBe(value);
});
