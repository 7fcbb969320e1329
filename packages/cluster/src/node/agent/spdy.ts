/**
 * The server's side of SPDY/3.1, as far as kubectl needs it to forward ports: streams that the client opens. There is no flow
 * control, because the client has none either.
 */
import { constants, createDeflate, createInflate, type Deflate, type Inflate } from "node:zlib";
import { spdyDictionary } from "./spdy-dictionary.ts";

const frames = { synStream: 1, synReply: 2, rstStream: 3, ping: 6, goAway: 7 } as const;
const version = 0x8003;
const finFlag = 1;
/** A frame has three bytes for its length. Smaller pieces let streams take turns. */
const mostData = 64 * 1024;
/** More headers than this are no request of kubectl. */
const mostHeaders = 100;

export interface SpdyStream {
  readonly headers: Readonly<Record<string, string>>;
  onData: (data: Buffer) => void;
  /** The client sends nothing more. */
  onEnd: () => void;
  /** The client does not want the stream any more. */
  onReset: () => void;
  write(data: Buffer): void;
  /** Nothing more follows from this side. */
  end(): void;
}

export class SpdyConnection {
  readonly #send: (bytes: Buffer) => void;
  readonly #onStream: (stream: SpdyStream) => void;
  readonly #streams = new Map<number, SpdyStream>();
  readonly #inflate: Inflate;
  readonly #deflate: Deflate;
  #unread = Buffer.alloc(0);
  /** Headers are compressed in the order of the frames, so frames are handled one after the other. */
  #queue: Promise<void> = Promise.resolve();

  constructor(send: (bytes: Buffer) => void, onStream: (stream: SpdyStream) => void) {
    this.#send = send;
    this.#onStream = onStream;
    this.#inflate = createInflate({ dictionary: spdyDictionary });
    this.#deflate = createDeflate({ dictionary: spdyDictionary });
    this.#inflate.on("error", () => {});
    this.#deflate.on("error", () => {});
  }

  /** Bytes of the client. Rejects if they are not SPDY. */
  receive(bytes: Buffer): Promise<void> {
    this.#unread = Buffer.concat([this.#unread, bytes]);
    for (;;) {
      if (this.#unread.length < 8) break;
      const length = this.#unread.readUInt32BE(4) & 0xff_ffff;
      if (this.#unread.length < 8 + length) break;
      const frame = this.#unread.subarray(0, 8 + length);
      this.#unread = this.#unread.subarray(8 + length);
      this.#queue = this.#queue.then(() => this.#onFrame(frame));
    }
    return this.#queue;
  }

  close(): void {
    for (const stream of this.#streams.values()) stream.onReset();
    this.#streams.clear();
    this.#inflate.close();
    this.#deflate.close();
  }

  async #onFrame(frame: Buffer): Promise<void> {
    const first = frame.readUInt32BE(0);
    const flags = frame[4] ?? 0;
    const body = frame.subarray(8);
    if (first < 0x8000_0000) {
      this.#onData(first, flags, body);
      return;
    }
    switch (first & 0xffff) {
      case frames.synStream:
        return this.#open(body, flags);
      case frames.rstStream: {
        const id = body.readUInt32BE(0);
        this.#streams.get(id)?.onReset();
        this.#streams.delete(id);
        return;
      }
      case frames.ping:
        this.#control(frames.ping, 0, body);
        return;
    }
  }

  #onData(id: number, flags: number, data: Buffer): void {
    const stream = this.#streams.get(id);
    if (data.length > 0) stream?.onData(data);
    if ((flags & finFlag) !== 0) stream?.onEnd();
  }

  async #open(body: Buffer, flags: number): Promise<void> {
    const id = body.readUInt32BE(0) & 0x7fff_ffff;
    const headers = parseHeaders(await pass(this.#inflate, body.subarray(10)));
    const stream: SpdyStream = {
      headers,
      onData: () => {},
      onEnd: () => {},
      onReset: () => {},
      write: (data) => {
        for (let at = 0; at < data.length; at += mostData)
          this.#data(id, data.subarray(at, at + mostData), 0);
      },
      end: () => this.#data(id, Buffer.alloc(0), finFlag),
    };
    this.#streams.set(id, stream);
    const answer = Buffer.alloc(4);
    answer.writeUInt32BE(id);
    // The answer has no headers: their number is 0.
    this.#control(frames.synReply, 0, Buffer.concat([answer, await pass(this.#deflate, Buffer.alloc(4))]));
    this.#onStream(stream);
    if ((flags & finFlag) !== 0) stream.onEnd();
  }

  #data(id: number, data: Buffer, flags: number): void {
    const header = Buffer.alloc(8);
    header.writeUInt32BE(id, 0);
    header.writeUInt32BE(data.length, 4);
    header[4] = flags;
    this.#send(Buffer.concat([header, data]));
  }

  #control(type: number, flags: number, body: Buffer): void {
    const header = Buffer.alloc(8);
    header.writeUInt16BE(version, 0);
    header.writeUInt16BE(type, 2);
    header.writeUInt32BE(body.length, 4);
    header[4] = flags;
    this.#send(Buffer.concat([header, body]));
  }
}

/** Sends bytes through a compression that goes on with the next bytes. */
function pass(through: Inflate | Deflate, bytes: Buffer): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const pieces: Buffer[] = [];
    const onData = (piece: Buffer) => pieces.push(piece);
    const finish = (error?: Error | null) => {
      through.off("data", onData).off("error", finish);
      if (error) reject(error);
      else resolve(Buffer.concat(pieces));
    };
    through.on("data", onData).once("error", finish);
    through.write(bytes, (error) => {
      if (error) finish(error);
      else through.flush(constants.Z_SYNC_FLUSH, () => finish());
    });
  });
}

function parseHeaders(block: Buffer): Record<string, string> {
  const headers: Record<string, string> = {};
  let at = 0;
  const read = () => {
    const length = block.readUInt32BE(at);
    const text = block.subarray(at + 4, at + 4 + length).toString("utf8");
    at += 4 + length;
    return text;
  };
  const count = Math.min(block.readUInt32BE(0), mostHeaders);
  at = 4;
  for (let index = 0; index < count; index++) {
    const name = read().toLowerCase();
    headers[name] = read();
  }
  return headers;
}
