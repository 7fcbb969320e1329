/**
 * The log of one run of a container: a file with a time before each line. A file that grows too large is renamed, and only the
 * present and the last file are kept.
 */
import { closeSync, mkdirSync, openSync, renameSync, statSync, writeSync } from "node:fs";
import { dirname } from "node:path";
import { Writable } from "node:stream";
import { type Clock, Emitter } from "@tenure/base";
import { formatLine, type LogStream, logTime } from "./log-line.ts";

/** As in the kubelet. */
const mostBytes = 10 * 1024 * 1024;
/** A longer line is cut into pieces. */
const longestLine = 16 * 1024;

export class ContainerLog {
  readonly path: string;
  readonly #clock: Clock;
  readonly #mostBytes: number;
  readonly #partial: Record<LogStream, Buffer> = { stdout: Buffer.alloc(0), stderr: Buffer.alloc(0) };
  readonly #emitter = new Emitter<{ change: undefined; output: { stream: LogStream; data: Buffer } }>(
    () => {},
  );
  #file: number;
  #bytes: number;
  #isEnded = false;

  constructor(path: string, clock: Clock, limit = mostBytes) {
    this.path = path;
    this.#clock = clock;
    this.#mostBytes = limit;
    mkdirSync(dirname(path), { recursive: true });
    this.#file = openSync(path, "a", 0o600);
    this.#bytes = statSync(path).size;
  }

  /** Whether no more output follows. */
  get isEnded(): boolean {
    return this.#isEnded;
  }

  /** Calls back after something was written, and at the end. */
  onChange(listener: () => void): () => void {
    return this.#emitter.on("change", listener);
  }

  /** Calls back with the output as it comes, before it is cut into lines. */
  onOutput(listener: (output: { stream: LogStream; data: Buffer }) => void): () => void {
    return this.#emitter.on("output", listener);
  }

  /** A stream that writes into this log. */
  stream(stream: LogStream): Writable {
    return new Writable({
      write: (data: Buffer, _encoding, done) => {
        try {
          this.#append(stream, data);
          done();
        } catch (error) {
          done(error as Error);
        }
      },
    });
  }

  end(): void {
    if (this.#isEnded) return;
    for (const stream of ["stdout", "stderr"] as const) {
      if (this.#partial[stream].length > 0) this.#write(stream, this.#partial[stream], false);
    }
    closeSync(this.#file);
    this.#isEnded = true;
    this.#emitter.emit("change", undefined);
  }

  #append(stream: LogStream, data: Buffer): void {
    this.#emitter.emit("output", { stream, data });
    let rest = Buffer.concat([this.#partial[stream], data]);
    for (;;) {
      const end = rest.indexOf(0x0a);
      if (end < 0 && rest.length < longestLine) break;
      const isWhole = end >= 0 && end <= longestLine;
      this.#write(stream, rest.subarray(0, isWhole ? end : longestLine), isWhole);
      rest = rest.subarray(isWhole ? end + 1 : longestLine);
    }
    this.#partial[stream] = Buffer.from(rest);
    this.#emitter.emit("change", undefined);
  }

  #write(stream: LogStream, text: Buffer, isWhole: boolean): void {
    const time = logTime(this.#clock.now().wallMs);
    const line = Buffer.from(formatLine({ time, stream, isWhole, text: text.toString("utf8") }));
    if (this.#bytes + line.length > this.#mostBytes && this.#bytes > 0) this.#rotate();
    writeSync(this.#file, line);
    this.#bytes += line.length;
  }

  #rotate(): void {
    closeSync(this.#file);
    renameSync(this.path, `${this.path}.1`);
    this.#file = openSync(this.path, "a", 0o600);
    this.#bytes = 0;
  }
}
