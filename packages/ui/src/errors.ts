export type UiErrorCode = "BadRecording" | "CannotListen" | "PageMissing";

/** Every error of this package. */
export class UiError extends Error {
  override readonly name = "UiError";
  readonly code: UiErrorCode;

  constructor(code: UiErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}
