/**
 * - `InvalidOptions`: the options of the consumer or of the credentials are invalid.
 * - `Misused`: a call in the wrong state, for example a second start, or a connect after the shutdown.
 * - `Unreachable`: no connection to the server within the time limit of `connect`.
 * - `StreamBroken`: the stream ended. `status` is the gRPC status, if there is one.
 * - `Refused`: the server ended the stream with a status in `stopOn`.
 * - `MessageTooLarge`: the server sent a message that is larger than `maxMessageBytes`.
 * - `HandlerFailed`: the handler threw, and the decision was to stop.
 * - `HandlerTimeout`: the handler did not return within `handlerTimeoutMs`. The reason of its signal, and the error of its failure.
 * - `TokenUnreadable`: the token for a call could not be read.
 * - `CannotListen`: the health endpoint cannot listen on its port.
 */
export type StreamErrorCode =
  | "InvalidOptions"
  | "Misused"
  | "Unreachable"
  | "StreamBroken"
  | "Refused"
  | "MessageTooLarge"
  | "HandlerFailed"
  | "HandlerTimeout"
  | "TokenUnreadable"
  | "CannotListen";

/** The only error class of this package. */
export class StreamError extends Error {
  override readonly name = "StreamError";
  readonly code: StreamErrorCode;
  /** The gRPC status, if there is one. */
  readonly status: number | undefined;

  constructor(code: StreamErrorCode, message: string, facts: { cause?: unknown; status?: number } = {}) {
    super(message, "cause" in facts ? { cause: facts.cause } : undefined);
    this.code = code;
    this.status = facts.status;
  }
}
