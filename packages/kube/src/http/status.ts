/**
 * Turns an answer that is not what was asked for into a typed error: a Kubernetes Status by its meaning, and anything else
 * (the page of a proxy, a cut body, garbage) by quoting how it begins.
 */
import type { IncomingHttpHeaders } from "node:http";
import { KubeError, type KubeErrorCode } from "../errors.ts";
import { describeNeed, formatRule, type RbacNeed } from "../rbac.ts";

export type Answer = {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Uint8Array;
};

type Status = { kind: "Status"; message?: string; reason?: string; code?: number; details?: unknown };

/** The object in a 2xx answer. */
export function parseAnswer(answer: Answer, need: RbacNeed): unknown {
  if (answer.body.length === 0 && answer.status === 204) return undefined;
  const parsed = parseObject(answer.body);
  if (parsed === undefined) {
    throw new KubeError(
      "BadResponse",
      `Cannot ${describeNeed(need)}: the answer is not from Kubernetes, it begins with ${quoteStart(answer.body)}. Is a proxy in between?`,
      { status: answer.status },
    );
  }
  return parsed;
}

/** The error in any other answer. */
export function errorFromAnswer(answer: Answer, need: RbacNeed, now: () => number): KubeError {
  const parsed = parseObject(answer.body);
  const status = isStatus(parsed) ? parsed : undefined;
  const retryAfterMs = retryAfterHeader(answer.headers["retry-after"], now) ?? retryAfterDetails(status);
  const facts = { status: answer.status, reason: status?.reason, retryAfterMs, details: status };
  const code = codeFor(answer.status, status?.reason);
  if (status !== undefined) return new KubeError(code, statusMessage(code, status, need), facts);
  const target = answer.headers.location;
  const body =
    answer.body.length === 0 ? "nothing else" : `${quoteStart(answer.body)}, which is not from Kubernetes`;
  const why =
    answer.status >= 300 && answer.status < 400 && target !== undefined
      ? `the server redirects to ${target}, which is not followed. Set server to the address of the API itself`
      : `the answer was ${answer.status} and ${body}. Is a proxy in between?`;
  return new KubeError(
    code,
    `Cannot ${describeNeed(need)}: ${why.replace(/\?$/, "")}${why.endsWith("?") ? "?" : "."}`,
    facts,
  );
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
      return "NotFound";
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
  const said = status.message || status.reason || "the server gives no reason";
  if (code === "Forbidden") return forbiddenMessage(said, need);
  const hint =
    code === "Unauthorized"
      ? ". The server does not accept these credentials: are they expired or of another cluster?"
      : "";
  return `Cannot ${describeNeed(need)}: ${said}${hint}`;
}

/** Quota and admission also answer 403; only a refusal by the authorizer names a user, and only that is mended by a rule. */
function forbiddenMessage(said: string, need: RbacNeed): string {
  const match = /User "([^"]*)" cannot ([a-z]+) (?:resource|path)/.exec(said);
  if (match === null) return `Cannot ${describeNeed(need)}: ${said}`;
  const [, user = "", verb = need.verb] = match;
  // A PUT or PATCH that creates is authorized as create, so the server knows the verb better than the request does.
  const asked: RbacNeed = verb === need.verb ? need : { ...need, verb, rule: ruleWithVerb(need, verb) };
  const anonymous = user === "system:anonymous" ? " The server saw no credentials it knows." : "";
  return (
    `Cannot ${describeNeed(asked)}: ${user} is not allowed to.${anonymous} ` +
    `Add to its ${asked.role}: ${formatRule(asked.rule)}`
  );
}

function ruleWithVerb(need: RbacNeed, verb: string): RbacNeed["rule"] {
  if ("nonResourceURLs" in need.rule) return { ...need.rule, verbs: [verb] };
  const { resourceNames, ...rest } = need.rule;
  return { ...rest, ...(resourceNames && verb !== "create" && { resourceNames }), verbs: [verb] };
}

function retryAfterHeader(value: string | undefined, now: () => number): number | undefined {
  if (value === undefined) return undefined;
  if (/^\d+$/.test(value)) return Number(value) * 1000;
  const date = Date.parse(value);
  return Number.isNaN(date) ? undefined : Math.max(0, date - now());
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
    const parsed: unknown = JSON.parse(new TextDecoder().decode(body));
    return typeof parsed === "object" && parsed !== null && !Array.isArray(parsed) ? parsed : undefined;
  } catch {
    return undefined;
  }
}

/** Enough to recognise whose page it is, and on one line. */
export function quoteStart(body: Uint8Array): string {
  const text = new TextDecoder().decode(body.subarray(0, 400)).replace(/\s+/g, " ").trim();
  return JSON.stringify(text.length > 80 ? `${text.slice(0, 80)}…` : text);
}
