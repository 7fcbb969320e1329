import { describeProblems } from "@tenure/base";
import { describe, expect, it } from "vitest";
import { checkIdentity, uniqueIdentity } from "./identity.ts";

describe("checkIdentity", () => {
  it.each(["a", "my-service-7d9f-x2x4z", "host_2f6e-11", "with space inside", "ünïcödé", "x".repeat(253)])(
    "accepts %s",
    (identity) => expect(checkIdentity(identity)).toEqual({ value: identity, problems: [] }),
  );

  const missing =
    "identity must not be empty; set POD_NAME with the downward API (fieldRef metadata.name), or pass identity";
  const control = "identity must not contain line breaks or control characters, but is";
  const space = "identity must not begin or end with white space, but is";
  const long = `identity must have at most 253 characters, but is "${"x".repeat(40)}…" with`;
  it.each([
    ["a missing identity", undefined, missing],
    ["null", null, missing],
    ["an empty identity", "", missing],
    ["a number", 7, "identity must be a string, but is a value of type number"],
    ["an object", {}, "identity must be a string, but is a value of type object"],
    ["300 characters", "x".repeat(300), `${long} 300 characters`],
    ["one character too many", "x".repeat(254), `${long} 254 characters`],
    ["a line break", "a\nb", `${control} "a\\nb"`],
    ["a line break at the end", "pod-1\n", `${control} "pod-1\\n"`],
    ["a carriage return", "a\rb", `${control} "a\\rb"`],
    ["a next-line character", "a\u0085b", `${control} "a\u0085b"`],
    ["a lone surrogate", "a\ud800", 'identity must be well-formed Unicode, but is "a\\ud800"'],
    ["a tab", "a\tb", `${control} "a\\tb"`],
    ["a NUL", "a\0b", `${control} "a\\u0000b"`],
    ["a delete character", "a\u007fb", `${control} "a\u007fb"`],
    ["a line separator", "a\u2028b", `${control} "a\u2028b"`],
    ["a paragraph separator", "a\u2029b", `${control} "a\u2029b"`],
    ["leading white space", " a", `${space} " a"`],
    ["trailing white space", "a ", `${space} "a "`],
    ["nothing but white space", "   ", `${space} "   "`],
  ])("rejects %s and says why", (_what, identity, problem) => {
    expect(describeProblems(checkIdentity(identity).problems)).toEqual([problem]);
  });
});

describe("uniqueIdentity", () => {
  it.each([
    ["web-1", 0, "web-1-00000000"],
    ["web-1", 0.999_999_999_9, "web-1-ffffffff"],
    ["", 0.5, "localhost-80000000"],
    [" web ", 0.5, "web-80000000"],
  ])("%j and %d", (hostName, random, identity) => {
    expect(uniqueIdentity(hostName, random)).toBe(identity);
    expect(checkIdentity(identity).problems).toEqual([]);
  });
});
