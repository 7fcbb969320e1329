import fc from "fast-check";
import { expect, test } from "vitest";
import { jsonText } from "./json-text.ts";

test("escapes what Go escapes, and nothing else", () => {
  expect(jsonText({ "a&b": "<é\u2028\u2029/'>" })).toBe('{"a\\u0026b":"\\u003cé\\u2028\\u2029/\'\\u003e"}');
});

test("means the same as JSON.stringify", () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      expect(JSON.parse(jsonText(value))).toEqual(JSON.parse(JSON.stringify(value)));
    }),
  );
});
