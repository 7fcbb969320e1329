/** Writes responses. It is not an error if the client has disconnected. */
import type { ServerResponse } from "node:http";
import type { StatusEffect } from "../control/fault.ts";
import { jsonText } from "../objects/json-text.ts";
import { ApiError } from "../objects/status.ts";
import type { ApiResponse, Context } from "../registry/context.ts";
import { warningHeaders } from "./warnings.ts";

export async function sendResponse(
  response: ServerResponse,
  answer: Exclude<ApiResponse, { type: "stream" | "forward" }>,
  context: Context,
): Promise<void> {
  if (answer.type === "text") {
    send(response, answer.code, "text/plain; charset=utf-8", answer.text, context);
    return;
  }
  if (answer.type === "redirect") {
    send(response, 301, "text/plain; charset=utf-8", "", context, ["Location", answer.location]);
    return;
  }
  if (answer.type === "bytes") {
    send(response, answer.code, answer.contentType, answer.bytes, context);
    return;
  }
  const headers = answer.type === "object" ? answer.headers : undefined;
  const json = answer.type === "json" ? answer.json : jsonText(answer.value);
  if (context.responseForm.format === "yaml" && headers === undefined) {
    const { dump } = await import("js-yaml");
    send(response, answer.code, "application/yaml", dump(JSON.parse(json), { sortKeys: true }), context);
    return;
  }
  send(response, answer.code, headers?.["Content-Type"] ?? "application/json", `${json}\n`, context);
}

export function sendError(response: ServerResponse, error: ApiError, context: Context | undefined): void {
  if (response.headersSent || response.destroyed) {
    response.destroy();
    return;
  }
  const { status } = error;
  const wait = status.details?.retryAfterSeconds;
  const retry = wait === undefined ? [] : ["Retry-After", String(wait)];
  send(response, status.code ?? 500, "application/json", `${jsonText(status)}\n`, context, retry);
}

function send(
  response: ServerResponse,
  code: number,
  contentType: string,
  body: string | Buffer,
  context: Context | undefined,
  moreHeaders: readonly string[] = [],
): void {
  const warnings = warningHeaders(context?.warnings ?? []);
  // Names and values in turn: Node writes such a list as it is.
  const headers = [...moreHeaders];
  if (context) headers.push("Audit-Id", context.cluster.platform.uuid());
  headers.push("Cache-Control", "no-cache, private");
  for (const warning of warnings) headers.push("Warning", warning);
  headers.push("Content-Type", contentType, "Content-Length", String(Buffer.byteLength(body)));
  response.writeHead(code, headers);
  // Node sends a string body together with the headers, in one write. It then encodes the headers as UTF-8 too, but
  // warnings need Latin-1 (see warnings.ts).
  response.end(typeof body === "string" && warnings.length > 0 ? Buffer.from(body) : body);
}

const faultReasons = {
  409: ["Conflict", "Operation cannot be fulfilled: injected by a sandbox fault"],
  429: ["TooManyRequests", "Too many requests, please try again later."],
  500: ["InternalError", "Internal error occurred: injected by a sandbox fault"],
  503: [
    "ServiceUnavailable",
    "The server is currently unable to handle the request: injected by a sandbox fault",
  ],
} as const;

export function faultStatus({ status, retryAfterSeconds }: StatusEffect): ApiError {
  const [reason, message] = faultReasons[status];
  // The API server always sends Retry-After with a 429.
  const wait = retryAfterSeconds ?? (status === 429 ? 1 : undefined);
  return new ApiError(status, reason, message, wait === undefined ? {} : { retryAfterSeconds: wait });
}
