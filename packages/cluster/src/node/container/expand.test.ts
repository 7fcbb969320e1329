import { expect, it } from "vitest";
import { expand } from "./expand.ts";

it.each([
  ["$(A)-$(B)", "1-two words"],
  ["$(MISSING)", "$(MISSING)"],
  ["$$(A)", "$(A)"],
  ["$$$(A)", "$1"],
  ["$A $", "$A $"],
  ["$(A", "$(A"],
  ["$(toString)", "$(toString)"],
])("%s becomes %s", (text, expected) => {
  expect(expand(text, { A: "1", B: "two words" })).toBe(expected);
});
