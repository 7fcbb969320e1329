/**
 * Lines to a descriptor, in order, without ever making the writer wait: a log whose reader is stuck must not keep a leader
 * from renewing, or from stopping its child.
 *
 * What does not fit into the buffer is dropped and counted, and the count is written as soon as there is room. At the end
 * `close` waits for the reader, but not for ever.
 */
import type { Platform } from "../platform.ts";

/** So much is kept for a slow reader. */
const mostBufferedBytes = 1024 * 1024;
/** How long the end of the process waits for a reader. */
const closeWithinMs = 2_000;
/** How long to leave a full pipe alone that refuses rather than blocks. */
const retryAfterMs = 10;

export const lostWords = "lines were lost here, as nobody read them in time";

export interface Sink {
  write(text: string): void;
  /** Resolves when everything is written, or cannot be. */
  close(): Promise<void>;
}

/** @param noteOf the line that says how many lines were dropped */
export function openSink(
  platform: Platform,
  descriptor: 1 | 2,
  noteOf: (dropped: number) => string = (dropped) => `${dropped} ${lostWords}\n`,
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
      // Line by line: short ones arrive in one piece, also among those of the child.
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
        // A pipe that was made non-blocking by somebody else is merely full. Anything else: nobody reads any more.
        if ((error as NodeJS.ErrnoException).code !== "EAGAIN") isBroken = true;
        else await new Promise<void>((resolve) => platform.after(retryAfterMs, resolve));
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
      let cancel = () => {};
      const late = new Promise<void>((resolve) => {
        cancel = platform.after(closeWithinMs, resolve);
      });
      await Promise.race([writing, late]);
      cancel();
    },
  };
}
