/** What the end of a stream means. */
import { StreamError } from "../errors.ts";

interface GrpcFailure {
  readonly code?: unknown;
  readonly details?: unknown;
}

/** The end of a stream as an error; a server that ends one with status OK has broken it as well, as more was expected. */
export function brokenBy(error: Error | undefined): StreamError {
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

/** A server that finds the keepalive pings too many closes the connection with ENHANCE_YOUR_CALM. */
export function complainsOfPings(error: Error | undefined): boolean {
  const { code, details } = (error ?? {}) as GrpcFailure;
  return code === resourceExhausted && /Bandwidth exhausted|too_many_pings/.test(String(details));
}
