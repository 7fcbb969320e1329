/** Reads a log file, as `kubectl logs` asks for it. */
import { createReadStream, statSync } from "node:fs";
import { onAbort } from "@tenure/base";
import type { ContainerLog } from "./container-log.ts";
import { type LogLine, parseLine } from "./log-line.ts";

export interface LogOptions {
  /** Only the last lines. */
  readonly tailLines?: number | undefined;
  /** Only lines since this time, with nanoseconds. */
  readonly sinceTime?: string | undefined;
  readonly timestamps?: boolean | undefined;
  readonly limitBytes?: number | undefined;
  /** Goes on until the container has ended. */
  readonly follow?: boolean | undefined;
  readonly signal: AbortSignal;
}

/** @param log the log that is being written, to follow it */
export async function* readLog(
  path: string,
  log: ContainerLog | undefined,
  options: LogOptions,
): AsyncGenerator<Buffer> {
  const { tailLines, sinceTime = "", timestamps = false, limitBytes, follow = false, signal } = options;
  let left = limitBytes ?? Number.POSITIVE_INFINITY;
  const print = (line: LogLine): Buffer => {
    const text = Buffer.from(`${timestamps ? `${line.time} ` : ""}${line.text}${line.isWhole ? "\n" : ""}`);
    const piece = text.subarray(0, Math.max(0, Math.min(text.length, left)));
    left -= piece.length;
    return piece;
  };
  const cursor = new LogCursor(path);
  const first: LogLine[] = [];
  for await (const line of cursor.read()) {
    if (line.time < sinceTime) continue;
    first.push(line);
    if (tailLines !== undefined && first.length > tailLines) first.shift();
  }
  for (const line of first) if (left > 0) yield print(line);
  while (follow && log && !signal.aborted && left > 0) {
    // Before the read, so that nothing that is written during the read is missed.
    const { changed, cancel } = nextChange(log, signal);
    const wasEnded = log.isEnded;
    for await (const line of cursor.read()) if (left > 0 && line.time >= sinceTime) yield print(line);
    if (wasEnded) {
      cancel();
      return;
    }
    await changed;
    cancel();
  }
}

function nextChange(log: ContainerLog, signal: AbortSignal): { changed: Promise<void>; cancel: () => void } {
  const cleanups: (() => void)[] = [];
  const changed = new Promise<void>((resolve) => {
    cleanups.push(log.onChange(resolve), onAbort(signal, resolve));
  });
  return {
    changed,
    cancel: () => {
      for (const cleanup of cleanups) cleanup();
    },
  };
}

/** Where a reader is in a log file. The file may be replaced by a new one. */
class LogCursor {
  readonly #path: string;
  #offset = 0;
  #inode: number | undefined;

  constructor(path: string) {
    this.#path = path;
  }

  /** The lines since the last call. */
  async *read(): AsyncGenerator<LogLine> {
    const found = statSync(this.#path, { throwIfNoEntry: false });
    if (!found) return;
    if (this.#inode !== undefined && found.ino !== this.#inode) {
      const replaced = `${this.#path}.1`;
      if (statSync(replaced, { throwIfNoEntry: false })?.ino === this.#inode) yield* this.#readFile(replaced);
      this.#offset = 0;
    }
    this.#inode = found.ino;
    yield* this.#readFile(this.#path);
  }

  async *#readFile(path: string): AsyncGenerator<LogLine> {
    let rest = Buffer.alloc(0);
    for await (const chunk of createReadStream(path, { start: this.#offset })) {
      rest = Buffer.concat([rest, chunk as Buffer]);
      for (let end = rest.indexOf(0x0a); end >= 0; end = rest.indexOf(0x0a)) {
        const line = parseLine(rest.subarray(0, end).toString("utf8"));
        this.#offset += end + 1;
        rest = rest.subarray(end + 1);
        if (line) yield line;
      }
    }
  }
}
