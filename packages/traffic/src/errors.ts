/**
 * - `InvalidOptions`: a gate cannot be set up as it was asked to.
 * - `CannotOpen`: this replica could not be put into traffic.
 * - `CannotClose`: it could not be taken out of traffic in its time; a successor does that.
 * - `Fenced`: a later term has already been here, so that this one must not.
 * - `Taken`: what a gate would write belongs to somebody else.
 * - `Mended`: what a gate had written was changed by somebody, and is right again. A notice, not a failure.
 * - `CannotFollow`: who is named by hand cannot be read.
 */
export type TrafficErrorCode =
  | "InvalidOptions"
  | "CannotOpen"
  | "CannotClose"
  | "Fenced"
  | "Taken"
  | "Mended"
  | "CannotFollow";

/** The one error class of this package. */
export class TrafficError extends Error {
  override readonly name = "TrafficError";
  readonly code: TrafficErrorCode;

  constructor(code: TrafficErrorCode, message: string, facts: { cause?: unknown } = {}) {
    super(message, "cause" in facts ? { cause: facts.cause } : undefined);
    this.code = code;
  }
}

/** Whatever was thrown, as text for people. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
