import { expect, it } from "vitest";
import { thousandths } from "./quantity.ts";

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
