import { expect, it } from "vitest";
import { matchesExpression, matchesSelector } from "./selector.ts";

it.each([
  ["a", "In", ["a", "b"], true],
  ["c", "In", ["a", "b"], false],
  [undefined, "In", ["a"], false],
  ["a", "NotIn", ["a"], false],
  [undefined, "NotIn", ["a"], true],
  ["", "Exists", [], true],
  [undefined, "Exists", [], false],
  [undefined, "DoesNotExist", [], true],
  ["10", "Gt", ["9"], true],
  ["9", "Gt", ["9"], false],
  ["8", "Lt", ["9"], true],
  ["text", "Gt", ["9"], false],
  ["a", "Similar", ["a"], false],
])("%s %s %j is %s", (value, operator, values, expected) => {
  expect(matchesExpression(value, operator, values)).toBe(expected);
});

it("matches nothing without a selector, and everything with an empty one", () => {
  expect(matchesSelector(undefined, { a: "b" })).toBe(false);
  expect(matchesSelector({}, {})).toBe(true);
  expect(
    matchesSelector(
      { matchLabels: { a: "b" }, matchExpressions: [{ key: "c", operator: "Exists" }] },
      { a: "b" },
    ),
  ).toBe(false);
});
