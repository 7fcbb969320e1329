/** Interprets the end of a stream. */
import { StreamError } from "../errors.ts";

interface GrpcFailure {
  readonly code?: unknown;
  readonly details?: unknown;
}

/** The error for a stream that ended. Status OK is an error too, because the consumer expects more messages. */
export function streamBroken(error: Error | undefined): StreamError {
  if (!error) return new StreamError("StreamBroken", "The server ended the stream.", { status: 0 });
  if (error instanceof StreamError) {
    return new StreamError("StreamBroken", `Cannot connect: ${error.message}.`, { cause: error });
  }
  const { code } = error as GrpcFailure;
  return new StreamError("StreamBroken", `The stream broke: ${error.message}`, {
    cause: error,
    ...(typeof code === "number" ? { status: code } : {}),
  });
}

const resourceExhausted = 8;

/** A server that receives too many keepalive pings closes the connection with ENHANCE_YOUR_CALM. */
export function reportsTooManyPings(error: Error | undefined): boolean {
  const { code, details } = (error ?? {}) as GrpcFailure;
  return code === resourceExhausted && /Bandwidth exhausted|too_many_pings/.test(String(details));
}
