import { describe, expect, it } from "vitest";
import { asError, isAbortOf, messageOf, sentence } from "./errors.ts";

describe("asError", () => {
  it("returns an error as it is", () => {
    const error = new TypeError("x");
    expect(asError(error)).toBe(error);
  });

  it("converts any other value", () => {
    expect(asError("text").message).toBe("text");
    expect(asError(undefined).message).toBe("undefined");
  });
});

describe("messageOf", () => {
  it("survives a value that cannot be converted to text", () => {
    expect(messageOf(Object.create(null))).toContain("cannot be converted");
  });
});

describe("isAbortOf", () => {
  const aborted = AbortSignal.abort(new Error("reason"));

  it.each([
    ["the reason of the signal", aborted.reason, true],
    ["an AbortError", Object.assign(new Error("x"), { name: "AbortError" }), true],
    ["an error that the reason caused", new Error("x", { cause: aborted.reason }), true],
    ["another error", new Error("x"), false],
  ])("%s", (_what, error, expected) => expect(isAbortOf(aborted, error)).toBe(expected));

  it("is false before the signal aborts", () => {
    const { signal } = new AbortController();
    expect(isAbortOf(signal, Object.assign(new Error("x"), { name: "AbortError" }))).toBe(false);
  });
});

it.each([
  ["Connection dropped", "Connection dropped."],
  ["Is it running?\n", "Is it running?"],
  ["It ended.", "It ended."],
])("sentence ends %j", (text, ended) => {
  expect(sentence(text)).toBe(ended);
});
