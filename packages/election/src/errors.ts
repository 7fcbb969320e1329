import { describeProblems, type Problem, sentence } from "@tenure/base";
import type { EndReason } from "@tenure/core";

/**
 * - `InvalidOptions`: the options of the election or of its lock are invalid.
 * - `AlreadyRunning`: `run` was called during another run.
 * - `DuplicateIdentity`: a live process holds the lock with this candidate's identity.
 * - `Denied`: the API server denied access (401, 403), and `failWhenDenied` is set.
 * - `TermEnded`: the reason of `term.signal` when it aborts.
 * - `NotCoordinated`: the API server does not support coordinated elections.
 * - `WorkerFailed`: the thread of an election with `worker: true` died.
 */
export type ElectionErrorCode =
  | "InvalidOptions"
  | "AlreadyRunning"
  | "DuplicateIdentity"
  | "Denied"
  | "TermEnded"
  | "NotCoordinated"
  | "WorkerFailed";

/** The one error class of this package. */
export class ElectionError extends Error {
  override readonly name = "ElectionError";
  /** What kind of error it is. It does not change between versions; the message may. */
  readonly code: ElectionErrorCode;
  /** Why the term ended. Only with the code `TermEnded`. */
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

/** Printed before the process ends because the work overran the hard deadline. */
export function overrunMessage(lock: string): string {
  return (
    `tenure: the term of ${lock} is over, but its work has not stopped by the hard deadline. Ending the process, because ` +
    "another replica may start now. Make the work stop when term.signal aborts, or allow it more time between renewDeadline and leaseDuration."
  );
}

/** @param why a sentence with the permission that is missing */
export function notShownMessage(why: string): string {
  return (
    `Cannot show this candidate to operators: ${sentence(why)} It takes part in the election all the same. Grant the permission, ` +
    "or turn this off with register: false (--no-register)."
  );
}
