import { expect, test } from "vitest";
import { quote, quoteByte } from "./quote.ts";

/** Each of these was seen in a response of kube-apiserver 1.36. */
test.each([
  ["an unassigned character", "\u{c11e6}", String.raw`"\U000c11e6"`],
  ["a noncharacter", "\u{10ffff}", String.raw`"\U0010ffff"`],
  ["invisible characters", "\u200b\ufeff\u2028\u00ad", String.raw`"\u200b\ufeff\u2028\u00ad"`],
  ["control characters", "a\u0001\u007f\u0085b", String.raw`"a\x01\x7f\u0085b"`],
  ["control characters with a short escape", "\n\t", String.raw`"\n\t"`],
  ["quotes and backslashes", 'q"q\\', String.raw`"q\"q\\"`],
  ["letters of any script", "größe é 名前 😀", '"größe é 名前 😀"'],
  ["half of a surrogate pair", "x\ud800y", '"x\ufffdy"'],
  ["names of built-in object properties", "__proto__ constructor", '"__proto__ constructor"'],
  ["empty text", "", '""'],
])("%s", (_, text, quoted) => {
  expect(quote(text)).toBe(quoted);
});

test.each([
  ["'", String.raw`'\''`],
  ['"', `'"'`],
  ["x", "'x'"],
  ["\u0000", String.raw`'\x00'`],
  ["\u007f", String.raw`'\x7f'`],
  ["\u00f3", "'ó'"],
  ["\u0080", String.raw`'\u0080'`],
])("the byte %j", (character, quoted) => {
  expect(quoteByte(character.charCodeAt(0))).toBe(quoted);
});
