import { describe, expect, it } from "vitest";
import { rbacRuleFor } from "../rbac.ts";
import { status } from "../testing/api-server.ts";
import { errorFromResponse, errorFromStatus } from "./response.ts";

const lease = "/apis/coordination.k8s.io/v1/namespaces/prod/leases";
const update = rbacRuleFor("PUT", `${lease}/my-lock`);
const nowMs = Date.UTC(2030, 0, 1);

function response(code: number, body: unknown, headers: Record<string, string> = {}) {
  return {
    status: code,
    headers,
    body: new TextEncoder().encode(typeof body === "string" ? body : JSON.stringify(body)),
  };
}

const forbidden = (text: string) =>
  errorFromResponse(response(403, status(403, "Forbidden", text)), update, nowMs).message;

describe("errorFromResponse", () => {
  it.each([
    [400, "BadRequest", "BadRequest"],
    [401, "Unauthorized", "Unauthorized"],
    [403, "Forbidden", "Forbidden"],
    [404, "NotFound", "NotFound"],
    [405, "MethodNotAllowed", "MethodNotAllowed"],
    [409, "AlreadyExists", "AlreadyExists"],
    [409, "Conflict", "Conflict"],
    [410, "Expired", "Gone"],
    [410, "Gone", "Gone"],
    [415, "UnsupportedMediaType", "HttpError"],
    [422, "Invalid", "Invalid"],
    [429, "TooManyRequests", "TooManyRequests"],
    [500, "InternalError", "ServerError"],
    [499, "Odd", "HttpError"],
    [500, "ServerTimeout", "ServerTimeout"],
    [500, "Timeout", "ServerTimeout"],
    [503, "ServiceUnavailable", "ServerError"],
    [504, "Timeout", "ServerTimeout"],
  ])("maps %d %s to the code %s", (code, reason, expected) => {
    const body = status(code, reason, "because");
    const error = errorFromResponse(response(code, body), update, nowMs);
    expect(error).toMatchObject({ code: expected, status: code, reason, details: body });
    expect(error.message).toContain(
      'Cannot update leases.coordination.k8s.io "my-lock" in namespace "prod": because',
    );
  });

  it.each([
    ["seconds in the header", { "retry-after": "3" }, {}, 3000],
    ["a date in the header", { "retry-after": "Tue, 01 Jan 2030 00:00:05 GMT" }, {}, 5000],
    ["a date in the past", { "retry-after": "Tue, 01 Jan 2019 00:00:05 GMT" }, {}, 0],
    ["seconds in the details", {}, { retryAfterSeconds: 7 }, 7000],
    ["seconds in both, of which the header counts", { "retry-after": "3" }, { retryAfterSeconds: 7 }, 3000],
    ["one second in the details", {}, { retryAfterSeconds: 1 }, 1000],
    ["zero in the details", {}, { retryAfterSeconds: 0 }, undefined],
    ["neither", {}, {}, undefined],
    ["invalid values", { "retry-after": "soon" }, { retryAfterSeconds: "x" }, undefined],
  ])("reads how long to wait: %s", (_why, headers, details, expected) => {
    const body = status(429, "TooManyRequests", "slow down", details);
    expect(errorFromResponse(response(429, body, headers), update, nowMs).retryAfterMs).toBe(expected);
  });
});

describe("a 404", () => {
  it("from a proxy is not NotFound: it says nothing about the object", () => {
    const error = errorFromResponse(response(404, "404 page not found\n"), update, nowMs);
    expect(error).toMatchObject({ code: "HttpError", status: 404, reason: undefined });
    expect(error.message).toBe(
      'Cannot update leases.coordination.k8s.io "my-lock" in namespace "prod": the server responded with 404 ' +
        '"404 page not found", which is not from Kubernetes. Is there a proxy in between?',
    );
  });
  it("with a Status for another reason is not NotFound either", () => {
    const error = errorFromResponse(response(404, status(404, "", "no such cluster")), update, nowMs);
    expect(error).toMatchObject({ code: "HttpError", status: 404 });
  });
});

describe("a 403", () => {
  it("names the user, the request and the missing rule", () => {
    expect(
      forbidden(
        'leases.coordination.k8s.io "my-lock" is forbidden: User "system:serviceaccount:prod:default" cannot update resource "leases" in API group "coordination.k8s.io" in the namespace "prod"',
      ),
    ).toBe(
      'Cannot update leases.coordination.k8s.io "my-lock" in namespace "prod": system:serviceaccount:prod:default is not allowed to. ' +
        'Add to its Role: {apiGroups: ["coordination.k8s.io"], resources: ["leases"], resourceNames: ["my-lock"], verbs: ["update"]}',
    );
  });
  it("uses the server's verb: a PUT that creates needs create, without a name", () => {
    expect(forbidden('x is forbidden: User "bob" cannot create resource "leases" in API group "y"')).toBe(
      'Cannot create leases.coordination.k8s.io "my-lock" in namespace "prod": bob is not allowed to. ' +
        'Add to its Role: {apiGroups: ["coordination.k8s.io"], resources: ["leases"], verbs: ["create"]}',
    );
  });
  it("says that the server knows no credentials of an anonymous user", () => {
    expect(forbidden('User "system:anonymous" cannot update resource "leases"')).toContain(
      "The request carried no credentials that the server knows.",
    );
  });
  it("suggests no rule if RBAC is not the reason", () => {
    const text =
      'leases "my-lock" is forbidden: unable to create new content in namespace prod because it is being terminated';
    expect(forbidden(text)).toBe(
      `Cannot update leases.coordination.k8s.io "my-lock" in namespace "prod": ${text}`,
    );
  });
  it("from a proxy suggests no rule", () => {
    const error = errorFromResponse(response(403, "<h1>blocked</h1>"), update, nowMs);
    expect(error.code).toBe("Forbidden");
    expect(error.message).toContain("which is not from Kubernetes");
    expect(error.message).not.toContain("Role");
  });
});

describe("errorFromStatus", () => {
  it("reads the error event of a watch", () => {
    const error = errorFromStatus(status(410, "Expired", "too old resource version"), update);
    expect(error).toMatchObject({ code: "Gone", status: 410 });
  });
  it("rejects an error event without a Status", () => {
    expect(errorFromStatus({ kind: "Lease" }, update).code).toBe("BadResponse");
    expect(errorFromStatus(undefined, update).code).toBe("BadResponse");
  });
});
