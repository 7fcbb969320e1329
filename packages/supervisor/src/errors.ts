/**
 * - `InvalidOptions`: the supervisor cannot be run as it was set up; `problems` has every one.
 * - `AlreadyRunning`: `run` was called while a run is going on.
 * - `SpawnFailed`: the child could not be started at all; `cause` has the system's word (`ENOENT`, `EACCES` …).
 * - `CheckFailed`: one check failed.
 * - `Stuck`: processes of the child are still there although they were killed.
 * - `KilledByWatchdog`: the watchdog had to kill the child, because this process did not in time.
 * - `Unguarded`: there is no watchdog.
 * - `GateFailed`: traffic could not be opened or closed.
 * - `DeadlineFile`: the file that tells the child its deadline cannot be written.
 * - `Output`: what the child prints cannot be passed on.
 */
export type SupervisorErrorCode =
  | "InvalidOptions"
  | "AlreadyRunning"
  | "SpawnFailed"
  | "CheckFailed"
  | "Stuck"
  | "KilledByWatchdog"
  | "Unguarded"
  | "GateFailed"
  | "DeadlineFile"
  | "Output";

/** The one error class of this package. */
export class SupervisorError extends Error {
  override readonly name = "SupervisorError";
  readonly code: SupervisorErrorCode;
  /** For `InvalidOptions`: every problem that was found, one sentence each. */
  readonly problems: readonly string[];

  constructor(
    code: SupervisorErrorCode,
    message: string,
    facts: { readonly cause?: unknown; readonly problems?: readonly string[] } = {},
  ) {
    super(message, "cause" in facts ? { cause: facts.cause } : undefined);
    this.code = code;
    this.problems = facts.problems ?? [];
  }
}
