/** What ends the command without a stack trace: one sentence, and an exit code. */

export type CliErrorCode =
  /** What was typed is wrong. Exit code 2. */
  | "USAGE"
  /** What was asked for could not be done. Exit code 1. */
  | "FAILED"
  /** Taking part was refused: no rights, or somebody else has this identity. Exit code 3. */
  | "REFUSED"
  /** The command to run is there and cannot be run. Exit code 126, as shells have it. */
  | "NOT_EXECUTABLE"
  /** The command to run is not there. Exit code 127, as shells have it. */
  | "NOT_FOUND";

const exitCodes: Readonly<Record<CliErrorCode, number>> = {
  USAGE: 2,
  FAILED: 1,
  REFUSED: 3,
  NOT_EXECUTABLE: 126,
  NOT_FOUND: 127,
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
