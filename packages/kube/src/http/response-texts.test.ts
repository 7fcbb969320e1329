/** Responses that are not what an API server sends, and what the errors quote from them. */
import { describe, expect, it } from "vitest";
import { rbacRuleFor } from "../rbac.ts";
import { status } from "../testing/api-server.ts";
import { errorFromResponse, errorFromStatus, parseResponse, quoteStart } from "./response.ts";

const need = rbacRuleFor("GET", "/version");
const encode = (body: unknown) =>
  new TextEncoder().encode(typeof body === "string" ? body : JSON.stringify(body));
const response = (code: number, body: unknown, headers: Record<string, string> = {}) => ({
  status: code,
  headers,
  body: encode(body),
});
const errorOf = (code: number, body: unknown, headers = {}) =>
  errorFromResponse(response(code, body, headers), need, 0);

describe("parseResponse", () => {
  it("returns the object", () =>
    expect(parseResponse(response(200, { a: 1 }), () => need)).toEqual({ a: 1 }));

  it("returns nothing for a 204, which has no body", () => {
    expect(parseResponse(response(204, ""), () => need)).toBeUndefined();
  });

  it.each([
    [200, "", '""'],
    [204, "text", '"text"'],
    [201, "[1]", '"[1]"'],
    [200, "null", '"null"'],
    [200, "7", '"7"'],
    [200, "<html>\n  hello", '"<html> hello"'],
  ])("rejects %d with the body %j", (code, body, quoted) => {
    const get = () => parseResponse(response(code, body), () => need);
    expect(get).toThrow(
      `Cannot get /version: the response is not from Kubernetes. It starts with ${quoted}. Is there a proxy in between?`,
    );
    expect(get).toThrow(expect.objectContaining({ code: "BadResponse", status: code }));
  });
});

describe("quoteStart", () => {
  it.each([
    ["a".repeat(80), `"${"a".repeat(80)}"`],
    ["a".repeat(81), `"${"a".repeat(80)}…"`],
    [`${" ".repeat(398)}abcdef`, '"ab"'],
    ["  a \n\t b  ", '"a b"'],
  ])("of %j is %s", (body, quoted) => expect(quoteStart(encode(body))).toBe(quoted));
});

describe("errorFromResponse", () => {
  const redirects = "the server redirects to /login, and this client does not follow redirects.";
  const location = { location: "/login" };
  it.each<[number, unknown, Record<string, string>, string]>([
    [300, "", location, redirects],
    [302, "moved", location, redirects],
    [399, "", location, redirects],
    [302, "", {}, "the server responded with 302 without a body."],
    [299, "", location, "the server responded with 299 without a body."],
    [400, "", location, "the server responded with 400 without a body."],
    [502, "bad gateway", {}, 'the server responded with 502 "bad gateway", which is not from Kubernetes.'],
    [500, { kind: "Lease" }, {}, "which is not from Kubernetes."],
    [500, status(500, "Broken", ""), {}, "Cannot get /version: Broken"],
    [500, { kind: "Status" }, {}, "Cannot get /version: the server gave no reason"],
    [401, status(401, "Unauthorized", "no"), {}, "no. The server rejected the credentials."],
  ])("says for %d %j %j: %s", (code, body, headers, why) => {
    expect(errorOf(code, body, headers).message).toContain(why);
  });

  it("has the details of a Status only if there is one", () => {
    expect(errorOf(500, status(500, "Broken", "x"))).toMatchObject({ details: { kind: "Status" } });
    expect(errorOf(500, { kind: "Lease", reason: "NotFound" })).toMatchObject({
      details: undefined,
      reason: undefined,
    });
  });

  it("quotes the rule for a path with the server's verb", () => {
    const text = 'forbidden: User "bob" cannot head path "/version"';
    expect(errorOf(403, status(403, "Forbidden", text)).message).toBe(
      'Cannot head /version: bob is not allowed to. Add to its ClusterRole: {nonResourceURLs: ["/version"], verbs: ["head"]}',
    );
  });

  it("keeps the name in the rule when another verb than create is missing", () => {
    const update = rbacRuleFor("PUT", "/api/v1/namespaces/prod/pods/web-0");
    const text = 'forbidden: User "bob" cannot patch resource "pods"';
    expect(errorFromResponse(response(403, status(403, "Forbidden", text)), update, 0).message).toContain(
      'verbs: ["patch"], resourceNames: ["web-0"]}',
    );
  });
});

describe("errorFromStatus", () => {
  it("has everything that the Status says", () => {
    const object = status(429, "TooManyRequests", "slow down", { retryAfterSeconds: 2 });
    expect(errorFromStatus(object, need)).toMatchObject({
      code: "TooManyRequests",
      status: 429,
      reason: "TooManyRequests",
      retryAfterMs: 2_000,
      details: object,
    });
  });

  it("is an error of the server if the Status has no code", () => {
    expect(errorFromStatus({ kind: "Status" }, need)).toMatchObject({ code: "ServerError", status: 500 });
  });
});
