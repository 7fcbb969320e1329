import { describeProblems, type Problem } from "@tenure/base";
import type { ReportedProblem } from "./machine/types.ts";

/**
 * - `InvalidOptions`: the options are not valid; `problems` lists every problem.
 * - `AlreadyRunning`: `run` was called while another run was active.
 * - `SpawnFailed`: the child could not be started; `cause` is the system error (`ENOENT`, `EACCES` …).
 * - `CheckFailed`: one check failed.
 * - `Stuck`: processes of the child are still running after SIGKILL.
 * - `KilledByWatchdog`: the watchdog killed the child because this process did not do so in time.
 * - `Unguarded`: the watchdog is not running.
 * - `DeadlineFile`: the file with the child's deadline could not be written.
 * - `GatesSlow`: a gate did not close within the time that the end of the term leaves it.
 * - `HookFailed`: a hook failed, or took too long.
 * - `Output`: the output of the child could not be passed on.
 */
export type SupervisorErrorCode =
  | "InvalidOptions"
  | "AlreadyRunning"
  | "SpawnFailed"
  | "CheckFailed"
  | "Stuck"
  | "KilledByWatchdog"
  | "Unguarded"
  | "DeadlineFile"
  | "GatesSlow"
  | "HookFailed"
  | "Output";

/** The one error class of this package. */
export class SupervisorError extends Error {
  override readonly name = "SupervisorError";
  readonly code: SupervisorErrorCode;
  /** For `InvalidOptions`: every problem with the options. */
  readonly problems: readonly Problem[];

  constructor(
    code: SupervisorErrorCode,
    message: string,
    facts: { readonly cause?: unknown; readonly problems?: readonly Problem[] } = {},
  ) {
    super(message, "cause" in facts ? { cause: facts.cause } : undefined);
    this.code = code;
    this.problems = facts.problems ?? [];
  }
}

/** @param attempted what cannot be done with the options: "set up the supervisor" */
export function invalidOptions(attempted: string, problems: readonly Problem[]): SupervisorError {
  const message = `Cannot ${attempted}: ${describeProblems(problems).join("; ")}.`;
  return new SupervisorError("InvalidOptions", message, { problems });
}

export function describeProblem(problem: ReportedProblem): SupervisorError {
  switch (problem.kind) {
    case "watchdog-ended":
      return new SupervisorError(
        "Unguarded",
        `The watchdog ended (${problem.why}); the supervisor starts another one.`,
      );
    case "killed-by-watchdog":
      return new SupervisorError(
        "KilledByWatchdog",
        `The watchdog killed the child (${problem.count} processes), because it was still running when its term ran out: this process ` +
          "was stopped, its event loop was blocked, or it was too slow.",
      );
    case "gates-slow":
      return new SupervisorError(
        "GatesSlow",
        `The gates did not close within ${Math.round(problem.waitedMs)} ms; the term ends without waiting for them any longer.`,
      );
    case "hook-failed":
      if (problem.hook === "recordCompletion") {
        const why = "The work is done, but that is not recorded, so it may be done again";
        return new SupervisorError("HookFailed", `${why}: ${problem.why}.`);
      }
      return new SupervisorError("HookFailed", `The hook ${problem.hook} failed: ${problem.why}.`);
  }
}
