/** Anything that was thrown, as an Error. */
export function asError(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error(messageOf(thrown));
}

/** The message of anything that was thrown. */
export function messageOf(thrown: unknown): string {
  if (thrown instanceof Error) return thrown.message;
  try {
    return String(thrown);
  } catch {
    return "a value was thrown that cannot be converted to text";
  }
}

/** Whether the error only reports that this signal aborted: it is the signal's reason, or an AbortError. */
export function isAbortOf(signal: AbortSignal, thrown: unknown): boolean {
  if (!signal.aborted) return false;
  return (
    thrown === signal.reason ||
    (thrown instanceof Error && (thrown.name === "AbortError" || thrown.cause === signal.reason))
  );
}

/** The text with a full stop, so that another sentence can follow. */
export function sentence(text: string): string {
  const trimmed = text.trimEnd();
  return /[.!?…]$/.test(trimmed) ? trimmed : `${trimmed}.`;
}
