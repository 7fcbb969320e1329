/**
 * - `InvalidOptions`: the options of the status server are invalid.
 * - `CannotListen`: the status server cannot listen on its address.
 */
export type StatusErrorCode = "InvalidOptions" | "CannotListen";

/** The only error class of this package. */
export class StatusError extends Error {
  override readonly name = "StatusError";
  readonly code: StatusErrorCode;

  constructor(code: StatusErrorCode, message: string, options: { cause?: unknown } = {}) {
    super(message, "cause" in options ? { cause: options.cause } : undefined);
    this.code = code;
  }
}
