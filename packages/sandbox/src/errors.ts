/** The only error class that the library throws. Errors of the HTTP API are Status objects: see objects/status.ts. */

export type SandboxErrorCode =
  /** An option or a fault is invalid. The message names it and quotes the value. */
  | "INVALID_OPTION"
  /** The port is in use, or the address does not belong to this machine. */
  | "CANNOT_LISTEN"
  /** The data directory cannot be opened, is in use, or holds other data. */
  | "DATA_DIR"
  /** The etcd of the store has a version whose watches cannot be trusted. */
  | "OLD_ETCD"
  /** No sandbox responds at this address, or it rejects the request. */
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
