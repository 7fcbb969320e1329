/**
 * Our own stdout or stderr, for the output of a child that goes through this process. A reader that does not read slows the child
 * down, but does not block this process, which has to renew its lease.
 */
import { Writable } from "node:stream";
import { after, type Clock, writeWithoutBlocking } from "@tenure/base";

type Write = (descriptor: 1 | 2, bytes: Uint8Array) => Promise<number>;

/** How long to wait before writing again to a reader that is too slow. */
const retryAfterMs = 10;

export class DescriptorOutput extends Writable {
  readonly #descriptor: 1 | 2;
  readonly #clock: Clock;
  readonly #write: Write;

  constructor(descriptor: 1 | 2, clock: Clock, write: Write = writeWithoutBlocking) {
    super();
    this.#descriptor = descriptor;
    this.#clock = clock;
    this.#write = write;
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, done: (error?: Error | null) => void): void {
    this.#write(this.#descriptor, chunk).then(
      (written) => {
        if (written < chunk.length) this._write(chunk.subarray(written), _encoding, done);
        else done();
      },
      (error: NodeJS.ErrnoException) => {
        if (error.code !== "EAGAIN") done(error);
        else after(this.#clock, retryAfterMs, () => this._write(chunk, _encoding, done));
      },
    );
  }
}
