/**
 * Forwards the output of a child, unchanged or with a prefix before each line. A slow reader slows the child down, as it would
 * without a supervisor. If the reader is gone, the rest is read and dropped, so that the child does not block forever.
 */
import type { Readable, Writable } from "node:stream";
import { LinePrefix } from "./line-prefix.ts";

interface OutputOptions {
  readonly prefix: string | undefined;
  readonly onError: (error: Error) => void;
}

/** Resolves when everything is forwarded or dropped. */
export function forwardOutput(
  from: Readable,
  to: Writable,
  { prefix, onError }: OutputOptions,
): Promise<void> {
  return new Promise((resolve) => {
    const source = prefix === undefined ? from : from.pipe(new LinePrefix(prefix));
    const done = () => {
      to.off("error", onBroken);
      resolve();
    };
    const onBroken = (error: Error) => {
      source.unpipe(to);
      source.resume();
      onError(error);
    };
    to.on("error", onBroken);
    from.on("error", onError);
    source.once("end", done).once("close", done);
    // A stream that an earlier child found broken emits no second error, and would never drain.
    if (to.destroyed) source.resume();
    else source.pipe(to, { end: false });
  });
}
