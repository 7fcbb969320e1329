/**
 * The only error class of this package. Code decides by `code`. People read `message`: what failed, why, the value, and what
 * to do. Codes are stable; messages are not.
 */
import { messageOf } from "@tenure/base";

/**
 * - `BadRequest` … `HttpError`: the server responded with an error. `status` is set. `NotFound` is only a Kubernetes Status with
 *   that reason. Any other 404 is `HttpError`: it may come from a proxy.
 * - `Unreachable`, `Timeout`, `Tls`, `BadResponse`: no response, or not a valid one. A write may or may not have happened.
 * - `Aborted`: the caller's signal aborted, or `close()` was called. A write may or may not have happened.
 * - `NoConfig`, `BadConfig`, `Unsupported`, `ExecPlugin`: the address or the credentials cannot be used.
 */
export type KubeErrorCode =
  | "BadRequest"
  | "Unauthorized"
  | "Forbidden"
  | "NotFound"
  | "MethodNotAllowed"
  | "AlreadyExists"
  | "Conflict"
  | "Gone"
  | "Invalid"
  | "TooManyRequests"
  | "ServerTimeout"
  | "ServerError"
  | "HttpError"
  | "Unreachable"
  | "Timeout"
  | "Tls"
  | "BadResponse"
  | "Aborted"
  | "NoConfig"
  | "BadConfig"
  | "Unsupported"
  | "ExecPlugin";

type KubeErrorFacts = {
  readonly cause?: unknown;
  readonly status?: number | undefined;
  readonly reason?: string | undefined;
  readonly retryAfterMs?: number | undefined;
  readonly details?: unknown;
};

export class KubeError extends Error {
  override readonly name = "KubeError";
  readonly code: KubeErrorCode;
  /** The HTTP status, if the server responded. */
  readonly status: number | undefined;
  /** The `reason` of the Kubernetes Status, for example `AlreadyExists`. */
  readonly reason: string | undefined;
  /** How long the server asks the client to wait before it retries. */
  readonly retryAfterMs: number | undefined;
  /** The whole Kubernetes Status, if there was one. */
  readonly details: unknown;

  constructor(code: KubeErrorCode, message: string, facts: KubeErrorFacts = {}) {
    super(message, "cause" in facts ? { cause: facts.cause } : undefined);
    this.code = code;
    this.status = facts.status;
    this.reason = facts.reason;
    this.retryAfterMs = facts.retryAfterMs;
    this.details = facts.details;
  }
}

/** The error code of Node or the system, for example ENOENT. */
export function systemCode(error: unknown): string | undefined {
  if (typeof error !== "object" || error === null) return undefined;
  const { code, errors } = error as { code?: unknown; errors?: unknown };
  if (typeof code === "string") return code;
  return Array.isArray(errors) ? systemCode(errors[0]) : undefined;
}

/** Why a file cannot be read, as the end of a sentence. */
export function fileProblem(error: unknown): string {
  const code = systemCode(error);
  switch (code) {
    case "ENOENT":
      return "it does not exist";
    case "EACCES":
    case "EPERM":
      return "permission denied";
    case "EISDIR":
      return "it is a directory";
    case "EFBIG":
      return "it is too large";
    default:
      return code ?? messageOf(error);
  }
}
