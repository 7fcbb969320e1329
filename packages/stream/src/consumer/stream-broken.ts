/** Interprets the end of a stream. */
import { sentence } from "@tenure/base";
import { StreamError } from "../errors.ts";

interface GrpcFailure {
  readonly code?: unknown;
  readonly details?: unknown;
}

/** The error for a stream that ended. Status OK is an error too, because the consumer expects more messages. */
export function streamBroken(error: Error | undefined, maxMessageBytes: number): StreamError {
  if (!error) return new StreamError("StreamBroken", "The server ended the stream.", { status: 0 });
  if (error instanceof StreamError)
    return new StreamError("StreamBroken", sentence(`Cannot connect: ${error.message}`), { cause: error });
  const { code } = error as GrpcFailure;
  const facts = { cause: error, ...(typeof code === "number" ? { status: code } : {}) };
  const size = sizeOfTooLarge(error as GrpcFailure);
  if (size !== undefined) {
    const message = `The server sent a message of ${size}, but maxMessageBytes is ${maxMessageBytes}. Raise maxMessageBytes, or let the server send smaller messages.`;
    return new StreamError("MessageTooLarge", message, facts);
  }
  return new StreamError("StreamBroken", sentence(`The stream broke: ${error.message}`), facts);
}

/** The size of a message that grpc-js refused to receive. A server that refuses to send one says "Sent" instead. */
function sizeOfTooLarge({ code, details }: GrpcFailure): string | undefined {
  if (code !== resourceExhausted) return undefined;
  const [, bytes] = /^Received message larger than max \((\d+)/.exec(String(details)) ?? [];
  return bytes && `${bytes} bytes`;
}

const resourceExhausted = 8;

/** A server that receives too many keepalive pings closes the connection with ENHANCE_YOUR_CALM. */
export function reportsTooManyPings(error: Error | undefined): boolean {
  const { code, details } = (error ?? {}) as GrpcFailure;
  return code === resourceExhausted && /Bandwidth exhausted|too_many_pings/.test(String(details));
}
