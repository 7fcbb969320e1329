import { expect, it } from "vitest";
import { paintFor, widthOf } from "./paint.ts";
import { table } from "./table.ts";

const plain = paintFor({ isTerminal: false, env: () => undefined });
const coloured = paintFor({ isTerminal: true, env: () => undefined });
const headings = ["NAME", "LEADER", "SINCE", "TRANSITIONS"];
const rows = [
  ["billing-of-the-northern-region", "billing-7d9f5-abcde", "3m12s", "12"],
  ["mail", coloured.bad("<none>-and-a-rather-long-text"), "-", "0"],
];
const shrinking = { shrink: ["NAME", "LEADER"], drop: ["TRANSITIONS", "SINCE"] };

it("is as wide as its cells if there is no screen", () => {
  const { text } = table(headings, rows, { paint: plain, ...shrinking });
  expect(text).toContain("billing-of-the-northern-region   billing-7d9f5-abcde");
});

it.each([80, 60, 50, 40, 30])("fits a screen of %i columns", (width) => {
  const { text } = table(headings, rows, { paint: coloured, width, ...shrinking });
  for (const line of text.trimEnd().split("\n")) expect(widthOf(line)).toBeLessThanOrEqual(width);
});

it("shortens names in the middle, because the end tells pods apart, and leaves columns out only if that is not enough", () => {
  const at60 = table(headings, rows, { paint: plain, width: 60, ...shrinking }).text;
  expect(at60).toContain("TRANSITIONS");
  expect(at60).toMatch(/billing.*…/);
  const at40 = table(headings, rows, { paint: plain, width: 40, ...shrinking }).text;
  expect(at40).not.toContain("TRANSITIONS");
  expect(at40).toMatch(/…\S*abcde/);
});

it("leaves the headings out, and aligns a row that is printed later", () => {
  const { text, row } = table(["A", "B"], [["long-name", "x"]], { paint: plain, noHeaders: true });
  expect(text + row(["b", "y"])).toBe("long-name   x\nb           y\n");
});
