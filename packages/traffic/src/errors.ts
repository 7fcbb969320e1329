import { describeProblems, type Problem } from "@tenure/base";

/**
 * - `InvalidOptions`: the options of a gate or follower are invalid.
 * - `CannotOpen`: this replica could not be put into traffic.
 * - `CannotClose`: this replica could not be taken out of traffic in time. Its successor does it.
 * - `Fenced`: a later term has already written here, so this term does not.
 * - `Taken`: the object that the gate writes belongs to another election or controller.
 * - `Mended`: somebody changed what the gate wrote, and the gate restored it. A notice, not a failure.
 * - `CannotFollow`: the name of the pod to follow cannot be read.
 */
export type TrafficErrorCode =
  | "InvalidOptions"
  | "CannotOpen"
  | "CannotClose"
  | "Fenced"
  | "Taken"
  | "Mended"
  | "CannotFollow";

/** The only error class of this package. */
export class TrafficError extends Error {
  override readonly name = "TrafficError";
  readonly code: TrafficErrorCode;

  constructor(code: TrafficErrorCode, message: string, options: { cause?: unknown } = {}) {
    super(message, "cause" in options ? { cause: options.cause } : undefined);
    this.code = code;
  }
}

/** Throws an error that names every problem. @param action what cannot be done: "label the pod" */
export function rejectProblems(action: string, found: readonly (Problem | undefined)[]): void {
  const problems = found.filter((problem) => problem !== undefined);
  if (problems.length === 0) return;
  throw new TrafficError("InvalidOptions", `Cannot ${action}: ${describeProblems(problems).join("; ")}.`);
}
