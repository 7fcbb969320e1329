import { describe, expect, it } from "vitest";
import { linesExecuted, linesOfCode } from "./coverage.ts";

const source = ["// a comment", "function f() {", "  return 1;", "}", "g();"].join("\n");
const at = (text: string) => source.indexOf(text);

describe("linesExecuted", () => {
  it("takes the count of the innermost range", () => {
    const ranges = [
      { startOffset: 0, endOffset: source.length, count: 1 },
      { startOffset: at("function"), endOffset: at("\ng()"), count: 0 },
    ];
    expect(linesExecuted(source, ranges)).toEqual([0, 4]);
  });
});

describe("linesOfCode", () => {
  it("leaves out comments and brackets", () => {
    expect(linesOfCode(source)).toEqual([1, 2, 4]);
  });
});
