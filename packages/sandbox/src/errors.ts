/**
 * The one error class that users of the library meet. What the HTTP API answers is not an error of the library but a
 * Status object: see api/status.ts.
 */

export type SandboxErrorCode =
  /** An option or a fault is not valid; the message names it and quotes the value. */
  | "INVALID_OPTION"
  /** The port is taken, or the address is not one of this machine. */
  | "CANNOT_LISTEN"
  /** The data directory cannot be opened, is in use, or holds something else. */
  | "DATA_DIR"
  /** No sandbox answers there, or it refuses. */
  | "NOT_REACHABLE"
  /** The sandbox is closed. */
  | "CLOSED";

export class SandboxError extends Error {
  override readonly name = "SandboxError";
  readonly code: SandboxErrorCode;

  constructor(code: SandboxErrorCode, message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.code = code;
  }
}
