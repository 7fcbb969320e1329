import { describeProblems, type Problem } from "@tenure/base";
import type { EndReason } from "@tenure/core";

/**
 * - `InvalidOptions`: the election cannot be run as it was set up.
 * - `AlreadyRunning`: `run` was called while a run is going on.
 * - `DuplicateIdentity`: a live process holds the lock with this candidate's identity.
 * - `Denied`: the API server refused (401, 403) and `failWhenDenied` is set.
 * - `TermEnded`: the reason of `term.signal` when it aborts.
 * - `WorkerFailed`: the thread of an election with `worker: true` died.
 */
export type ElectionErrorCode =
  | "InvalidOptions"
  | "AlreadyRunning"
  | "DuplicateIdentity"
  | "Denied"
  | "TermEnded"
  | "WorkerFailed";

/** The one error class of this package. */
export class ElectionError extends Error {
  override readonly name = "ElectionError";
  readonly code: ElectionErrorCode;
  /** For `TermEnded`: why. */
  readonly reason: EndReason | undefined;
  /** For `InvalidOptions`: every problem with the options. */
  readonly problems: readonly Problem[];

  constructor(
    code: ElectionErrorCode,
    message: string,
    facts: { cause?: unknown; reason?: EndReason; problems?: readonly Problem[] } = {},
  ) {
    super(message, "cause" in facts ? { cause: facts.cause } : undefined);
    this.code = code;
    this.reason = facts.reason;
    this.problems = facts.problems ?? [];
  }
}

/** @param attempted what cannot be done with the options: "set up the election" */
export function invalidOptions(attempted: string, problems: readonly Problem[]): ElectionError {
  const message = `Cannot ${attempted}: ${describeProblems(problems).join("; ")}.`;
  return new ElectionError("InvalidOptions", message, { problems });
}
