/**
 * Splits a byte stream into lines. It works on bytes, so a chunk may end inside a character. It buffers at most one line of
 * limited size.
 */
const newline = 0x0a;

export class LineSplitter {
  readonly #maxBytes: number;
  #parts: Uint8Array[] = [];
  #size = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** The size of the incomplete last line. */
  get pendingBytes(): number {
    return this.#size;
  }

  /** The lines that this chunk completes, without empty ones. Throws a RangeError if a line is too long. */
  *push(chunk: Uint8Array): Generator<string> {
    let start = 0;
    for (let end = chunk.indexOf(newline); end !== -1; end = chunk.indexOf(newline, start)) {
      this.#add(chunk.subarray(start, end));
      start = end + 1;
      const line = textOf(this.#parts).trim();
      this.#parts = [];
      this.#size = 0;
      if (line !== "") yield line;
    }
    this.#add(chunk.subarray(start));
  }

  #add(part: Uint8Array): void {
    if (part.length === 0) return;
    this.#size += part.length;
    if (this.#size > this.#maxBytes) throw new RangeError(`a line is longer than ${this.#maxBytes} bytes`);
    this.#parts.push(part);
  }
}

/** Nearly every line is in one chunk, which need not be copied. */
function textOf(parts: readonly Uint8Array[]): string {
  const [only] = parts;
  if (only === undefined || parts.length > 1) return Buffer.concat(parts).toString("utf8");
  return Buffer.from(only.buffer, only.byteOffset, only.length).toString("utf8");
}
