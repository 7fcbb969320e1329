/**
 * What a child prints, passed on: as it is, or with a prefix before each line. Slow readers slow the child down, as they
 * would without us; a reader that is gone does not: the rest is read and dropped, lest the child stand still for ever.
 */
import type { Readable, Writable } from "node:stream";
import { LinePrefix } from "./line-prefix.ts";

export interface OutputOptions {
  readonly prefix: string | undefined;
  readonly onError: (error: Error) => void;
}

/** Resolves when everything was passed on, or nobody takes it any more. */
export function passOn(from: Readable, to: Writable, { prefix, onError }: OutputOptions): Promise<void> {
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
    // One that broke with an earlier child tells nobody again, and would never ask for more.
    if (to.destroyed) source.resume();
    else source.pipe(to, { end: false });
  });
}
