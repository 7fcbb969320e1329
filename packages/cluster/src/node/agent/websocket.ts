/**
 * The server's side of a WebSocket (RFC 6455), as far as kubectl needs it: binary messages, pings and a clean end. Written by
 * hand, because Node has none and a few frames are not worth a dependency.
 */
import { createHash } from "node:crypto";
import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import { AgentError } from "./agent-error.ts";

const magic = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
/** A message that is larger ends the connection. */
const mostBytes = 16 * 1024 * 1024;

const opcodes = { continuation: 0, text: 1, binary: 2, close: 8, ping: 9, pong: 10 } as const;

export interface WebSocketEvents {
  onMessage(message: Buffer): void;
  /** The client is gone, cleanly or not. Called once. */
  onClose(): void;
}

export class WebSocketConnection {
  readonly protocol: string;
  readonly #socket: Duplex;
  #events: WebSocketEvents = { onMessage: () => {}, onClose: () => {} };
  #unread = Buffer.alloc(0);
  #fragments: Buffer[] = [];
  #isClosed = false;

  constructor(socket: Duplex, protocol: string) {
    this.#socket = socket;
    this.protocol = protocol;
  }

  /** From now on messages arrive. @param head what arrived together with the request */
  start(events: WebSocketEvents, head: Buffer): void {
    this.#events = events;
    this.#socket.on("data", (data: Buffer) => this.#read(data));
    this.#socket.once("close", () => this.#end()).once("error", () => this.#end());
    if (head.length > 0) this.#read(head);
  }

  /** Whether the client reads fast enough. If not, `onDrain` is called once when it has. */
  send(message: Buffer, onDrain?: () => void): boolean {
    if (this.#isClosed) return true;
    const isFlowing = this.#write(opcodes.binary, message);
    if (!isFlowing && onDrain) this.#socket.once("drain", onDrain);
    return isFlowing;
  }

  /** Ends the connection cleanly. */
  close(code = 1000): void {
    if (this.#isClosed) return;
    const body = Buffer.alloc(2);
    body.writeUInt16BE(code);
    this.#write(opcodes.close, body);
    this.#socket.end();
    this.#end();
  }

  #end(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.#events.onClose();
  }

  #read(data: Buffer): void {
    this.#unread = Buffer.concat([this.#unread, data]);
    for (let frame = this.#nextFrame(); frame && !this.#isClosed; frame = this.#nextFrame())
      this.#onFrame(frame);
    if (this.#unread.length > mostBytes) this.close(1009);
  }

  #nextFrame(): { opcode: number; isLast: boolean; payload: Buffer } | undefined {
    const bytes = this.#unread;
    if (bytes.length < 2) return undefined;
    const [first = 0, second = 0] = bytes;
    let length = second & 127;
    let at = 2;
    if (length === 126) {
      if (bytes.length < 4) return undefined;
      length = bytes.readUInt16BE(2);
      at = 4;
    } else if (length === 127) {
      if (bytes.length < 10) return undefined;
      length = Number(bytes.readBigUInt64BE(2));
      at = 10;
    }
    const isMasked = (second & 128) !== 0;
    if (length > mostBytes || !isMasked) {
      // Clients have to mask what they send.
      this.close(length > mostBytes ? 1009 : 1002);
      return undefined;
    }
    if (bytes.length < at + 4 + length) return undefined;
    const mask = bytes.subarray(at, at + 4);
    const payload = Buffer.from(bytes.subarray(at + 4, at + 4 + length));
    for (let index = 0; index < length; index++)
      payload[index] = (payload[index] ?? 0) ^ (mask[index % 4] ?? 0);
    this.#unread = bytes.subarray(at + 4 + length);
    return { opcode: first & 15, isLast: (first & 128) !== 0, payload };
  }

  #onFrame({ opcode, isLast, payload }: { opcode: number; isLast: boolean; payload: Buffer }): void {
    if (opcode === opcodes.ping) this.#write(opcodes.pong, payload);
    else if (opcode === opcodes.close) this.close();
    else if (opcode <= opcodes.binary) {
      this.#fragments.push(payload);
      if (!isLast) return;
      const message = Buffer.concat(this.#fragments);
      this.#fragments = [];
      this.#events.onMessage(message);
    }
  }

  #write(opcode: number, payload: Buffer): boolean {
    const { length } = payload;
    const header = Buffer.alloc(length < 126 ? 2 : length < 65_536 ? 4 : 10);
    header[0] = 128 | opcode;
    header[1] = length < 126 ? length : length < 65_536 ? 126 : 127;
    if (header.length === 4) header.writeUInt16BE(length, 2);
    if (header.length === 10) header.writeBigUInt64BE(BigInt(length), 2);
    return this.#socket.write(Buffer.concat([header, payload]));
  }
}

/** Accepts the upgrade with the first protocol that the client offers and that is supported. */
export function acceptWebSocket(
  { headers }: IncomingMessage,
  socket: Duplex,
  supported: readonly string[],
): WebSocketConnection {
  const key = headers["sec-websocket-key"];
  const offered = (headers["sec-websocket-protocol"] ?? "").split(",").map((name) => name.trim());
  const protocol = offered.find((name) => supported.includes(name));
  if (headers.upgrade?.toLowerCase() !== "websocket" || !key)
    throw new AgentError(400, "Upgrade request required");
  if (protocol === undefined) {
    const names = supported.join(", ");
    throw new AgentError(400, `the protocols ${offered.join(", ")} are not supported: use one of ${names}`);
  }
  const accept = createHash("sha1").update(`${key}${magic}`).digest("base64");
  const lines = [
    "HTTP/1.1 101 Switching Protocols",
    "Upgrade: websocket",
    "Connection: Upgrade",
    `Sec-WebSocket-Accept: ${accept}`,
    `Sec-WebSocket-Protocol: ${protocol}`,
  ];
  socket.write(`${lines.join("\r\n")}\r\n\r\n`);
  return new WebSocketConnection(socket, protocol);
}
