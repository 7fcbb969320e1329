import type { Problem } from "@tenure/base";

/**
 * - `InvalidOptions`: the options of the status server are invalid.
 * - `CannotListen`: the status server cannot listen on its address.
 */
export type StatusErrorCode = "InvalidOptions" | "CannotListen";

/** The only error class of this package. */
export class StatusError extends Error {
  override readonly name = "StatusError";
  readonly code: StatusErrorCode;
  /** For `InvalidOptions`: every problem with the options. */
  readonly problems: readonly Problem[];

  constructor(
    code: StatusErrorCode,
    message: string,
    facts: { cause?: unknown; problems?: readonly Problem[] } = {},
  ) {
    super(message, "cause" in facts ? { cause: facts.cause } : undefined);
    this.code = code;
    this.problems = facts.problems ?? [];
  }
}
