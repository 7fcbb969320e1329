/**
 * Puts a prefix before each line of a stream of bytes. Holds a line back until it is complete, so that stdout and stderr do not
 * mix within a line. A line that is too long to hold is forwarded in pieces. A last line without a newline gets one.
 */
import { Transform, type TransformCallback } from "node:stream";

const newline = 10;
/** How much of an incomplete line is held back. */
export const longestHeldBytes = 64 * 1_024;

export class LinePrefix extends Transform {
  readonly #prefix: Buffer;
  #held: Buffer[] = [];
  #heldBytes = 0;
  /** Whether the beginning of the current line is already forwarded. */
  #isWithinLine = false;

  constructor(prefix: string) {
    super();
    this.#prefix = Buffer.from(prefix);
  }

  override _transform(chunk: Buffer, _encoding: BufferEncoding, done: TransformCallback): void {
    const out: Buffer[] = [];
    let from = 0;
    for (let at = chunk.indexOf(newline); at !== -1; at = chunk.indexOf(newline, from)) {
      this.#hold(chunk.subarray(from, at + 1));
      this.#letGo(out);
      this.#isWithinLine = false;
      from = at + 1;
    }
    if (from < chunk.length) this.#hold(chunk.subarray(from));
    if (this.#heldBytes > longestHeldBytes) {
      this.#letGo(out);
      this.#isWithinLine = true;
    }
    done(null, out.length > 0 ? Buffer.concat(out) : undefined);
  }

  override _flush(done: TransformCallback): void {
    const out: Buffer[] = [];
    const isPartial = this.#heldBytes > 0 || this.#isWithinLine;
    if (this.#heldBytes > 0) this.#letGo(out);
    // The next output starts on a new line.
    if (isPartial) out.push(Buffer.of(newline));
    done(null, out.length > 0 ? Buffer.concat(out) : undefined);
  }

  #hold(part: Buffer): void {
    this.#held.push(part);
    this.#heldBytes += part.length;
  }

  #letGo(out: Buffer[]): void {
    if (!this.#isWithinLine) out.push(this.#prefix);
    out.push(...this.#held);
    this.#held = [];
    this.#heldBytes = 0;
  }
}
