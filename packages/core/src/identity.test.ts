import { describe, expect, it } from "vitest";
import { CoreError } from "./errors.ts";
import { checkIdentity } from "./identity.ts";

describe("checkIdentity", () => {
  it.each(["a", "my-service-7d9f-x2x4z", "host_2f6e-11", "with space inside", "ünïcödé", "x".repeat(253)])(
    "accepts %s",
    (identity) => expect(checkIdentity(identity)).toBe(identity),
  );

  const missing =
    "identity must not be empty: set POD_NAME by the downward API (fieldRef metadata.name), or pass identity";
  it.each([
    ["a missing one", undefined, missing],
    ["null", null, missing],
    ["an empty one", "", missing],
    ["a number", 7, "identity must be a string: number"],
    ["an object", {}, "identity must be a string: object"],
    [
      "300 characters",
      "x".repeat(300),
      `identity must have at most 253 characters: "${"x".repeat(40)}…" has 300`,
    ],
    [
      "one character too many",
      "x".repeat(254),
      `identity must have at most 253 characters: "${"x".repeat(40)}…" has 254`,
    ],
    ["a line break", "a\nb", 'identity must not contain line breaks or control characters: "a\\nb"'],
    [
      "a line break at the end",
      "pod-1\n",
      'identity must not contain line breaks or control characters: "pod-1\\n"',
    ],
    ["a carriage return", "a\rb", 'identity must not contain line breaks or control characters: "a\\rb"'],
    ["a next line", "a\u0085b", 'identity must not contain line breaks or control characters: "a\u0085b"'],
    ["half a character", "a\ud800", 'identity must be well-formed Unicode: "a\\ud800"'],
    ["a tab", "a\tb", 'identity must not contain line breaks or control characters: "a\\tb"'],
    ["a NUL", "a\0b", 'identity must not contain line breaks or control characters: "a\\u0000b"'],
    [
      "a delete character",
      "a\u007fb",
      'identity must not contain line breaks or control characters: "a\u007fb"',
    ],
    [
      "a line separator",
      "a\u2028b",
      'identity must not contain line breaks or control characters: "a\u2028b"',
    ],
    [
      "a paragraph separator",
      "a\u2029b",
      'identity must not contain line breaks or control characters: "a\u2029b"',
    ],
    ["white space before it", " a", 'identity must not begin or end with white space: " a"'],
    ["white space behind it", "a ", 'identity must not begin or end with white space: "a "'],
    ["nothing but white space", "   ", 'identity must not begin or end with white space: "   "'],
  ])("refuses %s and says why", (_what, identity, problem) => {
    expect(() => checkIdentity(identity)).toThrow(
      expect.objectContaining({ name: "CoreError", code: "InvalidIdentity", problems: [problem] }),
    );
  });

  it("says in the message what could not be done, and why", () => {
    expect(() => checkIdentity("")).toThrow(CoreError);
    expect(() => checkIdentity("")).toThrow(`Cannot start the election: ${missing}.`);
  });
});
