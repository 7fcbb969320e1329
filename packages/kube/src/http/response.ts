/**
 * Parses a successful response, and turns any other into a typed error. A Kubernetes Status is interpreted. Anything else, for
 * example the page of a proxy, is quoted in its first characters.
 */
import type { IncomingHttpHeaders } from "node:http";
import { KubeError, type KubeErrorCode } from "../errors.ts";
import { describeNeed, formatRule, type RbacNeed } from "../rbac.ts";

export type ApiResponse = {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Uint8Array;
};

const utf8 = new TextDecoder();

type Status = { kind: "Status"; message?: string; reason?: string; code?: number; details?: unknown };

/** The object in a 2xx response. */
export function parseResponse(response: ApiResponse, need: () => RbacNeed): unknown {
  if (response.body.length === 0 && response.status === 204) return undefined;
  const parsed = parseObject(response.body);
  if (parsed === undefined) {
    throw new KubeError(
      "BadResponse",
      `Cannot ${describeNeed(need())}: the response is not from Kubernetes. It starts with ${quoteStart(response.body)}. Is there a proxy in between?`,
      { status: response.status },
    );
  }
  return parsed;
}

/** The error in any other response. */
export function errorFromResponse(response: ApiResponse, need: RbacNeed, nowMs: number): KubeError {
  const parsed = parseObject(response.body);
  const status = isStatus(parsed) ? parsed : undefined;
  const retryAfterMs = retryAfterHeader(response.headers["retry-after"], nowMs) ?? retryAfterDetails(status);
  const facts = { status: response.status, reason: status?.reason, retryAfterMs, details: status };
  const code = codeFor(response.status, status?.reason);
  if (status !== undefined) return new KubeError(code, statusMessage(code, status, need), facts);
  const target = response.headers.location;
  const body =
    response.body.length === 0
      ? "without a body"
      : `${quoteStart(response.body)}, which is not from Kubernetes`;
  const isRedirect = response.status >= 300 && response.status < 400 && target !== undefined;
  const why = isRedirect
    ? `the server redirects to ${target}, and this client does not follow redirects. Set server to the address of the API.`
    : `the server responded with ${response.status} ${body}. Is there a proxy in between?`;
  return new KubeError(code, `Cannot ${describeNeed(need)}: ${why}`, facts);
}

/** The error in an ERROR event of a watch. */
export function errorFromStatus(object: unknown, need: RbacNeed): KubeError {
  if (!isStatus(object)) {
    return new KubeError(
      "BadResponse",
      `Cannot ${describeNeed(need)}: the stream reported an error without a Status.`,
    );
  }
  const status = object.code ?? 500;
  const code = codeFor(status, object.reason);
  return new KubeError(code, statusMessage(code, object, need), {
    status,
    reason: object.reason,
    retryAfterMs: retryAfterDetails(object),
    details: object,
  });
}

function codeFor(status: number, reason: string | undefined): KubeErrorCode {
  switch (status) {
    case 400:
      return "BadRequest";
    case 401:
      return "Unauthorized";
    case 403:
      return "Forbidden";
    case 404:
      // Without this reason, the answer says nothing about the object: a proxy without a route responds with 404 too.
      return reason === "NotFound" ? "NotFound" : "HttpError";
    case 405:
      return "MethodNotAllowed";
    case 409:
      return reason === "AlreadyExists" ? "AlreadyExists" : "Conflict";
    case 410:
      return "Gone";
    case 422:
      return "Invalid";
    case 429:
      return "TooManyRequests";
    case 504:
      return "ServerTimeout";
    default:
      if (status < 500) return "HttpError";
      return reason === "ServerTimeout" || reason === "Timeout" ? "ServerTimeout" : "ServerError";
  }
}

function statusMessage(code: KubeErrorCode, status: Status, need: RbacNeed): string {
  const reason = status.message || status.reason || "the server gave no reason";
  if (code === "Forbidden") return forbiddenMessage(reason, need);
  const hint =
    code === "Unauthorized"
      ? ". The server rejected the credentials. Have they expired, or are they for another cluster?"
      : "";
  return `Cannot ${describeNeed(need)}: ${reason}${hint}`;
}

/** Quota and admission also respond with 403. Only the authorizer names a user, and only then does an RBAC rule help. */
function forbiddenMessage(reason: string, need: RbacNeed): string {
  const match = /User "([^"]*)" cannot ([a-z]+) (?:resource|path)/.exec(reason);
  if (match === null) return `Cannot ${describeNeed(need)}: ${reason}`;
  const [, user = "", verb = need.verb] = match;
  // Use the server's verb: it authorizes a PUT or PATCH that creates an object as create.
  const actual: RbacNeed = verb === need.verb ? need : { ...need, verb, rule: ruleWithVerb(need, verb) };
  const anonymous =
    user === "system:anonymous" ? " The request carried no credentials that the server knows." : "";
  return (
    `Cannot ${describeNeed(actual)}: ${user} is not allowed to.${anonymous} ` +
    `Add to its ${actual.role}: ${formatRule(actual.rule)}`
  );
}

function ruleWithVerb(need: RbacNeed, verb: string): RbacNeed["rule"] {
  if ("nonResourceURLs" in need.rule) return { ...need.rule, verbs: [verb] };
  const { resourceNames, ...rest } = need.rule;
  return { ...rest, ...(resourceNames && verb !== "create" && { resourceNames }), verbs: [verb] };
}

function retryAfterHeader(value: string | undefined, nowMs: number): number | undefined {
  if (value === undefined) return undefined;
  if (/^\d+$/.test(value)) return Number(value) * 1000;
  const date = Date.parse(value);
  return Number.isNaN(date) ? undefined : Math.max(0, date - nowMs);
}

function retryAfterDetails(status: Status | undefined): number | undefined {
  const seconds = (status?.details as { retryAfterSeconds?: unknown } | null | undefined)?.retryAfterSeconds;
  return typeof seconds === "number" && seconds > 0 ? seconds * 1000 : undefined;
}

function isStatus(value: unknown): value is Status {
  return (value as { kind?: unknown } | undefined)?.kind === "Status";
}

function parseObject(body: Uint8Array): object | undefined {
  try {
    const parsed: unknown = JSON.parse(utf8.decode(body));
    return typeof parsed === "object" && parsed !== null && !Array.isArray(parsed) ? parsed : undefined;
  } catch {
    return undefined;
  }
}

/** Enough to recognise where it comes from, on one line. */
export function quoteStart(body: Uint8Array): string {
  const text = utf8.decode(body.subarray(0, 400)).replace(/\s+/g, " ").trim();
  return JSON.stringify(text.length > 80 ? `${text.slice(0, 80)}…` : text);
}
