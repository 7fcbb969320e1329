import { describe, expect, it } from "vitest";
import { KubeError } from "../errors.ts";
import { Fields, isRecord, Problems } from "./fields.ts";

function read(value: unknown) {
  const problems = new Problems();
  return { fields: new Fields(value, "user", problems), problems };
}

describe("Fields", () => {
  it.each<[keyof Fields & ("string" | "boolean" | "strings" | "list"), unknown, unknown, string[]]>([
    ["string", "x", "x", []],
    ["string", "", undefined, []],
    ["string", undefined, undefined, []],
    ["string", null, undefined, []],
    ["string", 7, undefined, ["user: f must be a string; put it in quotes"]],
    ["boolean", true, true, []],
    ["boolean", false, false, []],
    ["boolean", null, false, []],
    ["boolean", "true", false, ["user: f must be true or false"]],
    ["strings", ["a", "b"], ["a", "b"], []],
    ["strings", ["a", 7], ["a"], ["user: every item of f must be a string; put it in quotes"]],
    ["strings", undefined, [], []],
    ["list", [1, {}], [1, {}], []],
    ["list", null, [], []],
    ["list", {}, [], ["user: f must be a list"]],
  ])("reads a %s from %j", (type, value, expected, texts) => {
    const { fields, problems } = read({ f: value });
    expect(fields[type]("f")).toEqual(expected);
    expect(problems.texts).toEqual(texts);
  });

  it.each([
    ["a string", ["user is not a mapping"]],
    [[], ["user is not a mapping"]],
    [undefined, []],
    [null, []],
  ])("of %j has no fields", (value, texts) => {
    const { fields, problems } = read(value);
    expect(fields.has("f")).toBe(false);
    expect(problems.texts).toEqual(texts);
  });

  it("names the path to a nested field", () => {
    const { fields, problems } = read({ exec: { env: 7 } });
    fields.nested("exec").list("env");
    expect(problems.texts).toEqual(["user: exec: env must be a list"]);
  });

  it("reads a PEM in base64", () => {
    const pem = "-----BEGIN CERTIFICATE-----";
    const { fields, problems } = read({ good: Buffer.from(pem).toString("base64"), bad: "bm8=" });
    expect([fields.pemData("good"), fields.pemData("bad"), fields.pemData("none")]).toEqual([
      pem,
      undefined,
      undefined,
    ]);
    expect(problems.texts).toEqual(["user: bad is not a PEM in base64"]);
  });

  it("turns an error of this package into a problem, and throws any other", async () => {
    const { fields, problems } = read({});
    const fail = (error: Error) => () => Promise.reject(error);
    expect(await fields.attempt(async () => 7)).toBe(7);
    expect(await fields.attempt(fail(new KubeError("BadConfig", "It is bad.")))).toBeUndefined();
    expect(problems.code).toBe("BadConfig");
    expect(await fields.attempt(fail(new KubeError("Unsupported", "It is old.")))).toBeUndefined();
    await expect(fields.attempt(fail(new TypeError("a bug")))).rejects.toThrow("a bug");
    expect(() => problems.throwIfAny("this")).toThrow(
      expect.objectContaining({
        code: "Unsupported",
        message: "Cannot use this: user: It is bad; user: It is old.",
      }),
    );
  });
});

describe("isRecord", () => {
  it.each([
    [{}, true],
    [[], false],
    [null, false],
    ["x", false],
    [undefined, false],
  ])("of %j is %s", (value, expected) => expect(isRecord(value)).toBe(expected));
});
