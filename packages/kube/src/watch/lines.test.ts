import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { LineSplitter } from "./lines.ts";

const encode = (text: string): Uint8Array => new TextEncoder().encode(text);

describe("LineSplitter", () => {
  it("returns the same lines wherever the chunks end", () => {
    const line = fc.string({ unit: "grapheme", minLength: 1 }).map((text) => JSON.stringify(text));
    fc.assert(
      fc.property(fc.array(line), fc.array(fc.nat(500)), (lines, cuts) => {
        const bytes = encode(lines.map((text) => `${text}\n`).join(""));
        const edges = [0, ...cuts.map((cut) => cut % (bytes.length + 1)).sort((a, b) => a - b), bytes.length];
        const splitter = new LineSplitter(10_000);
        const got = edges
          .slice(1)
          .flatMap((end, index) => [...splitter.push(bytes.subarray(edges[index], end))]);
        expect(got).toEqual(lines);
        expect(splitter.pendingBytes).toBe(0);
      }),
    );
  });
  it("rejects a line that is too long", () => {
    const splitter = new LineSplitter(10);
    expect([...splitter.push(encode("123456"))]).toEqual([]);
    expect(() => [...splitter.push(encode("123456"))]).toThrow("a line is longer than 10 bytes");
  });
  it("skips empty lines and accepts CRLF", () => {
    expect([...new LineSplitter(10).push(encode("\n\r\na\r\n"))]).toEqual(["a"]);
  });
});
