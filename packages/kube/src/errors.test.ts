import { describe, expect, it } from "vitest";
import { fileProblem, KubeError, systemCode } from "./errors.ts";

const failed = (code: unknown) => Object.assign(new Error("it failed"), { code });

describe("fileProblem", () => {
  it.each([
    ["ENOENT", "it does not exist"],
    ["EACCES", "permission denied"],
    ["EPERM", "permission denied"],
    ["EISDIR", "it is a directory"],
    ["EFBIG", "it is too large"],
    ["EIO", "EIO"],
    [undefined, "it failed"],
  ])("says for %s that %s", (code, problem) => expect(fileProblem(failed(code))).toBe(problem));
});

describe("systemCode", () => {
  it.each<[unknown, string | undefined]>([
    [failed("ENOENT"), "ENOENT"],
    [failed(7), undefined],
    [Object.assign(new Error(), { errors: [failed("ECONNREFUSED"), failed("EPERM")] }), "ECONNREFUSED"],
    [{ errors: [] }, undefined],
    [null, undefined],
    [undefined, undefined],
    ["ENOENT", undefined],
  ])("of %j is %s", (error, code) => expect(systemCode(error)).toBe(code));
});

describe("KubeError", () => {
  it("has a cause only if there is one", () => {
    expect(new KubeError("Timeout", "late", { cause: undefined })).toHaveProperty("cause", undefined);
    expect(new KubeError("Timeout", "late")).not.toHaveProperty("cause");
  });

  it("has the facts of the response", () => {
    const facts = { status: 429, reason: "TooManyRequests", retryAfterMs: 5, details: { kind: "Status" } };
    expect(new KubeError("TooManyRequests", "slow down", facts)).toMatchObject({
      name: "KubeError",
      code: "TooManyRequests",
      ...facts,
    });
  });
});
