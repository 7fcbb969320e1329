import { KubeError, type KubeErrorCode } from "@tenure/kube";
import { describe, expect, it } from "vitest";
import { answerFromError, failureFromError } from "./answers.ts";
import { UnreadableRecord } from "./record-fields.ts";

describe("answerFromError", () => {
  it.each<[KubeErrorCode, string]>([
    ["NotFound", "absent"],
    ["Conflict", "conflict"],
    ["AlreadyExists", "conflict"],
    ["Forbidden", "failed"],
    ["Timeout", "failed"],
  ])("%s is %s", (code, kind) => {
    expect(answerFromError(new KubeError(code, "x"), false).kind).toBe(kind);
  });

  it("a 404 to a create means that the namespace does not exist", () => {
    expect(answerFromError(new KubeError("NotFound", 'namespaces "x" not found'), true)).toEqual({
      kind: "failed",
      failure: { kind: "server", message: 'namespaces "x" not found' },
    });
  });

  it("a conflict with a create is a conflict", () => {
    expect(answerFromError(new KubeError("AlreadyExists", "x"), true)).toEqual({ kind: "conflict" });
  });
});

describe("failureFromError", () => {
  it.each<[KubeErrorCode, string]>([
    ["Unauthorized", "denied"],
    ["Forbidden", "denied"],
    ["TooManyRequests", "throttled"],
    ["Timeout", "timeout"],
    ["Aborted", "timeout"],
    ["Unreachable", "unreachable"],
    ["Tls", "unreachable"],
    ["BadResponse", "unreachable"],
    ["ServerError", "server"],
    ["ServerTimeout", "server"],
    ["Invalid", "server"],
    ["Gone", "server"],
    ["HttpError", "server"],
    ["NoConfig", "server"],
  ])("%s is %s", (code, kind) => {
    expect(failureFromError(new KubeError(code, "why"))).toEqual({ kind, message: "why" });
  });

  it("keeps the server's Retry-After", () => {
    expect(failureFromError(new KubeError("TooManyRequests", "later", { retryAfterMs: 3_000 }))).toEqual({
      kind: "throttled",
      message: "later",
      retryAfterMs: 3_000,
    });
  });

  it("distinguishes an unreadable record from an API server error", () => {
    expect(failureFromError(new UnreadableRecord("garbage"))).toEqual({
      kind: "unreadable",
      message: "garbage",
    });
  });

  it.each([
    [new TypeError("a defect"), "a defect"],
    ["thrown as text", "thrown as text"],
    [undefined, "undefined"],
  ])("any other error keeps its message", (error, message) => {
    expect(failureFromError(error)).toEqual({ kind: "server", message });
  });
});
