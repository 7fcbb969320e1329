import { KubeError, type KubeErrorCode } from "@tenure/kube";
import { describe, expect, it } from "vitest";
import { answerFromError, failureFromError } from "./answers.ts";
import { UnreadableRecord } from "./record-fields.ts";

const lease = { name: "lock", plural: "leases", kind: "Lease", group: "coordination.k8s.io" };
const notFound = (details?: object, reason = "NotFound") =>
  new KubeError("NotFound", "not found", {
    status: 404,
    reason,
    details: { kind: "Status", reason, code: 404, details },
  });

describe("answerFromError", () => {
  it.each([
    ["as the API server writes it", { name: "lock", group: "coordination.k8s.io", kind: "leases" }],
    ["with the kind in the singular", { name: "lock", group: "coordination.k8s.io", kind: "Lease" }],
    ["with the name alone", { name: "lock" }],
  ])("a Status NotFound for this very object means that it is absent: %s", (_what, details) => {
    expect(answerFromError(notFound(details), lease)).toEqual({ kind: "absent" });
  });

  it.each([
    ["another object", notFound({ name: "other", group: "coordination.k8s.io", kind: "leases" })],
    ["another kind", notFound({ name: "lock", group: "", kind: "configmaps" })],
    ["another group", notFound({ name: "lock", group: "example.com", kind: "leases" })],
    ["a kind that is not served", notFound({})],
    ["nothing at all", notFound(undefined)],
    ["another reason", notFound({ name: "lock" }, "Expired")],
    ["no Status, such as the page of a proxy", new KubeError("HttpError", "not found", { status: 404 })],
  ])("a 404 that names %s is a failure, because the lock may well exist", (_what, error) => {
    expect(answerFromError(error, lease)).toEqual({
      kind: "failed",
      failure: {
        kind: "server",
        message:
          "not found. This 404 did not come from a Kubernetes API server for this object, so the lock does not count as deleted",
      },
    });
  });

  it.each<[KubeErrorCode, string]>([
    ["Conflict", "conflict"],
    ["AlreadyExists", "conflict"],
    ["Forbidden", "failed"],
    ["Timeout", "failed"],
  ])("%s is %s", (code, kind) => {
    expect(answerFromError(new KubeError(code, "x"), lease).kind).toBe(kind);
  });

  it("a 404 to a create means that the namespace does not exist", () => {
    expect(answerFromError(new KubeError("NotFound", 'namespaces "x" not found'), undefined)).toEqual({
      kind: "failed",
      failure: { kind: "server", message: 'namespaces "x" not found' },
    });
  });

  it("a 409 without a Status is a conflict too: the candidate then only reads the lock again, which is safe", () => {
    expect(answerFromError(new KubeError("Conflict", "x", { status: 409 }), lease)).toEqual({
      kind: "conflict",
    });
  });

  it("a conflict with a create is a conflict", () => {
    expect(answerFromError(new KubeError("AlreadyExists", "x"), undefined)).toEqual({ kind: "conflict" });
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
