import fc from "fast-check";
import { expect, test } from "vitest";
import { parseJson } from "./json.ts";

test("accepts what JSON.parse accepts", () => {
  fc.assert(
    fc.property(fc.json({ maxDepth: 6 }), fc.boolean(), (text, spread) => {
      const written = spread ? JSON.stringify(JSON.parse(text), null, 2) : text;
      expect(parseJson(written).value).toEqual(JSON.parse(written));
    }),
  );
});

test("rejects what JSON.parse rejects, always with a JsonSyntaxError", () => {
  const pieces = fc.constantFrom(
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
    '"',
    '"a"',
    "1",
    "-",
    "0",
    ".",
    "e",
    "true",
    "nul",
    "\\",
    "\\u00",
    " ",
    "\n",
  );
  fc.assert(
    fc.property(
      fc.array(pieces).map((parts) => parts.join("")),
      (text) => {
        let expected: unknown;
        let good = true;
        try {
          expected = JSON.parse(text);
        } catch {
          good = false;
        }
        if (good) expect(parseJson(text).value).toEqual(expected);
        else expect(() => parseJson(text)).toThrow(expect.objectContaining({ name: "JsonSyntaxError" }));
      },
    ),
    { numRuns: 500 },
  );
});

test("duplicate fields are reported by path, and the last value wins", () => {
  const { value, duplicates } = parseJson('{"a":{"b":1,"b":2},"l":[{"c":1,"c":2}]}');
  expect(value).toEqual({ a: { b: 2 }, l: [{ c: 2 }] });
  expect(duplicates).toEqual(["a.b", "l[0].c"]);
});

test("a field named __proto__ is an ordinary field", () => {
  const { value } = parseJson('{"__proto__":{"polluted":true}}') as { value: object };
  expect(Object.keys(value)).toEqual(["__proto__"]);
  expect(({} as Record<string, unknown>).polluted).toBeUndefined();
});

test.each([
  ['"x\\ud800y"', "x\ufffdy"],
  ['"\\udc00\\ud800"', "\ufffd\ufffd"],
  ['"\\ud83d\\ude00"', "😀"],
])("half of a surrogate pair becomes U+FFFD, as in Go: %s", (text, value) => {
  expect(parseJson(text).value).toBe(value);
});

test.each([
  ["{\u{c11e6}", "'ó'"],
  ["{é", "'Ã'"],
  ["{\u007f", String.raw`'\x7f'`],
  ["{'", String.raw`'\''`],
  ["{\u0000", String.raw`'\x00'`],
])("a syntax error names the first invalid byte, as Go does: %j", (text, byte) => {
  expect(() => parseJson(text)).toThrow(`invalid character ${byte} looking for`);
});

test("depth is limited", () => {
  expect(() => parseJson("[".repeat(100_000))).toThrow("exceeded max depth");
});

test("depth is limited in a complete document too", () => {
  const nested = (depth: number) => "[".repeat(depth) + "]".repeat(depth);
  expect(() => parseJson(nested(1001))).toThrow("exceeded max depth");
  expect(() => parseJson(nested(100_000))).toThrow("exceeded max depth");
  expect(parseJson(nested(1000)).duplicates).toEqual([]);
});

test.each(['{"a":1.0}', '{"a":1e1}', '{"a":-0}', '{"a":9007199254740993}', '{"a":-9223372036854776000}'])(
  "the text of a number is kept if it matters: %s",
  (text) => {
    expect([...parseJson(text).literals.values()]).toEqual(text.includes("-0") ? [] : [text.slice(5, -1)]);
  },
);

test.each(['{"a":1,"a":1}', '{"a":1,"a":1}\n', '{"a":{},"a":{}}'])("finds the duplicate of %j", (text) => {
  expect(parseJson(text).duplicates).toEqual(["a"]);
});
