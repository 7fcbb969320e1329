/**
 * The one error class of this package. Callers decide by `code`, people read `message`: one sentence that says what could
 * not be done, why, the value, and the way out. Codes are stable; messages are not.
 */

/**
 * - `Unauthorized` … `HttpError`: the server answered, and refused. `status` is set.
 * - `Unreachable`, `Timeout`, `Tls`, `BadResponse`: no answer that can be understood. A write may or may not have happened.
 * - `Aborted`: the caller's signal, or `close()`. A write may or may not have happened.
 * - `NoConfig`, `BadConfig`, `Unsupported`, `ExecPlugin`: the credentials or the address are not usable.
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

export type KubeErrorFacts = {
  readonly cause?: unknown;
  readonly status?: number | undefined;
  readonly reason?: string | undefined;
  readonly retryAfterMs?: number | undefined;
  readonly details?: unknown;
};

export class KubeError extends Error {
  override readonly name = "KubeError";
  readonly code: KubeErrorCode;
  /** HTTP status, if the server answered. */
  readonly status: number | undefined;
  /** `reason` of the Kubernetes Status, such as `AlreadyExists`. */
  readonly reason: string | undefined;
  /** How long the server asks to be left alone. */
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

/** The code that Node or the system gave an error, such as ENOENT. */
export function systemCode(error: unknown): string | undefined {
  if (typeof error !== "object" || error === null) return undefined;
  const { code, errors } = error as { code?: unknown; errors?: unknown };
  if (typeof code === "string") return code;
  return Array.isArray(errors) ? systemCode(errors[0]) : undefined;
}

/** What went wrong with a file, as the end of a sentence. */
export function fileProblem(error: unknown): string {
  const code = systemCode(error);
  switch (code) {
    case "ENOENT":
      return "it does not exist";
    case "EACCES":
    case "EPERM":
      return "this user may not read it";
    case "EISDIR":
      return "it is a directory";
    case "EFBIG":
      return "it is too large";
    default:
      return code ?? (error instanceof Error ? error.message : String(error));
  }
}
