/**
 * - `InvalidOptions`: the consumer, the credentials or the worker cannot be set up as they were described.
 * - `Misused`: a call that does not fit the state: started twice, connected after the shutdown.
 * - `Unreachable`: no connection to the server within the time given to `connect`.
 * - `StreamBroken`: the stream ended; `status` says how, where the server or gRPC said so.
 * - `Refused`: the server ended the stream with a status of `stopOn`.
 * - `HandlerFailed`: the handler threw, and `onHandlerError` said "stop".
 * - `TokenUnreadable`: the token for the call could not be read.
 * - `CannotListen`: the health endpoint has no port to listen on.
 */
export type StreamErrorCode =
  | "InvalidOptions"
  | "Misused"
  | "Unreachable"
  | "StreamBroken"
  | "Refused"
  | "HandlerFailed"
  | "TokenUnreadable"
  | "CannotListen";

/** The one error class of this package. */
export class StreamError extends Error {
  override readonly name = "StreamError";
  readonly code: StreamErrorCode;
  /** The gRPC status, where there is one. */
  readonly status: number | undefined;

  constructor(code: StreamErrorCode, message: string, facts: { cause?: unknown; status?: number } = {}) {
    super(message, "cause" in facts ? { cause: facts.cause } : undefined);
    this.code = code;
    this.status = facts.status;
  }
}

/** Whatever was thrown, as an error. */
export function asError(error: unknown): Error {
  if (error instanceof Error) return error;
  try {
    return new Error(String(error));
  } catch {
    return new Error("something was thrown that cannot be shown as text");
  }
}
