// What ends the command without a stack trace: one sentence, and an exit code.

export type CliErrorCode =
  /** What was typed is wrong. Exit code 2. */
  | "USAGE"
  /** What was asked for could not be done. Exit code 1. */
  | "FAILED";

export class CliError extends Error {
  override readonly name = "CliError";
  readonly code: CliErrorCode;

  constructor(code: CliErrorCode, message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.code = code;
  }

  get exitCode(): number {
    return this.code === "USAGE" ? 2 : 1;
  }
}
