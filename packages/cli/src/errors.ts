/** An error that ends the command with one message and an exit code, without a stack trace. */

export type CliErrorCode =
  /** The command line is wrong. Exit code 2. */
  | "Usage"
  /** The command failed. Exit code 1. */
  | "Failed"
  /** The replica may not take part: it lacks rights, or another process has its identity. Exit code 3. */
  | "Refused"
  /** The replica did not become the leader in time, or was stopped before its work was done. Exit code 4. */
  | "Incomplete"
  /** The program to run exists but is not executable. Exit code 126, as in a shell. */
  | "NotExecutable"
  /** The program to run does not exist. Exit code 127, as in a shell. */
  | "NotFound";

export const exitCodes: Readonly<Record<CliErrorCode, number>> = {
  Usage: 2,
  Failed: 1,
  Refused: 3,
  Incomplete: 4,
  NotExecutable: 126,
  NotFound: 127,
};

export class CliError extends Error {
  override readonly name = "CliError";
  readonly code: CliErrorCode;

  constructor(code: CliErrorCode, message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.code = code;
  }

  get exitCode(): number {
    return exitCodes[this.code];
  }
}
