/** Writes to stdout in order, for commands that print for as long as somebody reads, such as `tenure list -w | head`. */
import type { Platform } from "../platform.ts";

export interface LineWriter {
  print(text: string): void;
  /** Resolves when everything is written. */
  end(): Promise<void>;
}

/** @param onClosed called when the reader of the pipe is gone */
export function lineWriter(platform: Pick<Platform, "write">, onClosed: () => void): LineWriter {
  const encoder = new TextEncoder();
  let written: Promise<unknown> = Promise.resolve();
  return {
    print(text) {
      written = written
        .then(async () => {
          let rest = encoder.encode(text);
          while (rest.length > 0) rest = rest.subarray(await platform.write(1, rest));
        })
        .catch(onClosed);
    },
    end: async () => void (await written),
  };
}
