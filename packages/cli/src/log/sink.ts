/**
 * Writes lines to a descriptor, in order, and never blocks its caller. A log whose reader is stuck must not keep a leader from
 * renewing its lease or from stopping its child.
 *
 * Lines that do not fit into the buffer are dropped and counted. The count is written as soon as there is room. `close` waits
 * for the reader, but only for a limited time.
 */
import { sleep, within } from "@tenure/base";
import type { Platform } from "../platform.ts";

const mostBufferedBytes = 1024 * 1024;
/** How long the exit of the process waits for the reader. */
const closeWithinMs = 2_000;
/** How long to wait before writing again to a full pipe that does not block. */
const retryAfterMs = 10;

export const linesLost = "log lines were dropped because the reader was too slow";

export interface Sink {
  write(text: string): void;
  /** Resolves when everything is written, when writing is impossible, or after two seconds. */
  close(): Promise<void>;
}

/** @param noteOf formats the line that reports how many lines were dropped */
export function openSink(
  platform: Platform,
  descriptor: 1 | 2,
  noteOf: (dropped: number) => string = (dropped) => `${dropped} ${linesLost}\n`,
): Sink {
  const encoder = new TextEncoder();
  const queue: Uint8Array[] = [];
  let buffered = 0;
  let dropped = 0;
  let isBroken = false;
  let writing: Promise<void> | undefined;

  const push = (bytes: Uint8Array) => {
    queue.push(bytes);
    buffered += bytes.length;
    writing ??= drain();
  };

  async function drain(): Promise<void> {
    while (queue.length > 0 && !isBroken) {
      // One write per line: the system writes short ones in one piece, so they do not mix with the child's.
      const line = queue.shift() as Uint8Array;
      await writeAll(line);
      buffered -= line.length;
      if (dropped > 0) {
        const note = encoder.encode(noteOf(dropped));
        dropped = 0;
        queue.push(note);
        buffered += note.length;
      }
    }
    writing = undefined;
  }

  async function writeAll(bytes: Uint8Array): Promise<void> {
    let rest = bytes;
    while (rest.length > 0 && !isBroken) {
      try {
        rest = rest.subarray(await platform.write(descriptor, rest));
      } catch (error) {
        // EAGAIN: a non-blocking pipe is full. After any other error nobody reads any more.
        if ((error as NodeJS.ErrnoException).code !== "EAGAIN") isBroken = true;
        else await sleep(platform.clock, retryAfterMs);
      }
    }
  }

  return {
    write(text) {
      if (isBroken) return;
      const bytes = encoder.encode(text);
      if (buffered + bytes.length > mostBufferedBytes) dropped += 1;
      else push(bytes);
    },
    async close() {
      await within(platform.clock, closeWithinMs, writing ?? Promise.resolve());
    },
  };
}
