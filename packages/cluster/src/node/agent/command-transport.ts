/** How the streams of `kubectl exec` and `kubectl attach` reach the client: by a WebSocket, or by SPDY. */
import type { IncomingMessage } from "node:http";
import type { Duplex } from "node:stream";
import { SpdyConnection, type SpdyStream } from "./spdy.ts";
import { acceptSpdy, isSpdy } from "./spdy-upgrade.ts";
import { acceptWebSocket, type WebSocketConnection } from "./websocket.ts";

type OutputChannel = "stdout" | "stderr" | "error";

interface CommandEvents {
  onInput(data: Buffer): void;
  /** The client sends no more input. */
  onInputEnd(): void;
  onResize(data: Buffer): void;
  /** The client is gone. */
  onClose(): void;
}

export interface CommandTransport {
  /** Whether the error channel carries only the text of an error, as in the first version of the protocol. */
  readonly isFirstVersion: boolean;
  /** @param head what arrived together with the request */
  start(events: CommandEvents, head: Buffer): void;
  /** Whether the client reads fast enough. If not, `onDrain` is called once when it has. */
  send(channel: OutputChannel, data: Buffer, onDrain?: () => void): boolean;
  /** Everything is sent. */
  close(): void;
}

/** @param query which streams the client wants */
export function acceptCommand(
  incoming: IncomingMessage,
  socket: Duplex,
  query: URLSearchParams,
): CommandTransport {
  if (!isSpdy(incoming)) return new WebSocketTransport(acceptWebSocket(incoming, socket, webSocketProtocols));
  acceptSpdy(incoming, socket, ["v4.channel.k8s.io"]);
  const isWanted = (name: string) => ["1", "true"].includes(query.get(name) ?? "");
  // A terminal has one output.
  const names = ["stdin", "stdout", ...(isWanted("tty") ? [] : ["stderr"])].filter(isWanted);
  return new SpdyTransport(socket, ["error", ...names]);
}

const firstVersion = "channel.k8s.io";
const webSocketProtocols = ["v5.channel.k8s.io", "v4.channel.k8s.io", firstVersion];
const channels = { stdin: 0, stdout: 1, stderr: 2, error: 3, resize: 4, close: 255 } as const;

/** The first byte of each message names its channel. */
class WebSocketTransport implements CommandTransport {
  readonly #connection: WebSocketConnection;
  readonly isFirstVersion: boolean;

  constructor(connection: WebSocketConnection) {
    this.#connection = connection;
    this.isFirstVersion = connection.protocol === firstVersion;
  }

  start(events: CommandEvents, head: Buffer): void {
    // Tells the client that the stream is open.
    this.send("stdout", Buffer.alloc(0));
    const onMessage = (message: Buffer) => {
      const [channel = -1] = message;
      const data = message.subarray(1);
      if (channel === channels.stdin) events.onInput(data);
      else if (channel === channels.close && data[0] === channels.stdin) events.onInputEnd();
      else if (channel === channels.resize) events.onResize(data);
    };
    this.#connection.start({ onMessage, onClose: () => events.onClose() }, head);
  }

  send(channel: OutputChannel, data: Buffer, onDrain?: () => void): boolean {
    return this.#connection.send(Buffer.concat([Buffer.of(channels[channel]), data]), onDrain);
  }

  close(): void {
    this.#connection.close();
  }
}

/**
 * The client opens a stream for each channel. Output waits until all of them are open: kubectl reads none before that, and much
 * output would keep it from reading that the next stream is open.
 */
class SpdyTransport implements CommandTransport {
  readonly isFirstVersion = false;
  readonly #socket: Duplex;
  readonly #expected: readonly string[];
  readonly #streams = new Map<string, SpdyStream>();
  /** What to do when all streams are open. */
  readonly #waiting: (() => void)[] = [];

  constructor(socket: Duplex, expected: readonly string[]) {
    this.#socket = socket;
    this.#expected = expected;
  }

  start(events: CommandEvents, head: Buffer): void {
    const spdy = new SpdyConnection(
      (bytes) => void this.#socket.write(bytes),
      (stream) => this.#open(stream, events),
    );
    let isOver = false;
    const end = () => {
      if (isOver) return;
      isOver = true;
      spdy.close();
      events.onClose();
    };
    const receive = (bytes: Buffer) => void spdy.receive(bytes).catch(() => this.#socket.destroy());
    this.#socket.on("data", receive).once("close", end).once("error", end).once("end", end);
    if (head.length > 0) receive(head);
  }

  send(channel: OutputChannel, data: Buffer, onDrain?: () => void): boolean {
    if (!this.#isOpen) {
      this.#waiting.push(() => this.send(channel, data));
      if (onDrain) this.#waiting.push(onDrain);
      return false;
    }
    this.#streams.get(channel)?.write(data);
    const isFlowing = !this.#socket.writableNeedDrain;
    if (!isFlowing && onDrain) this.#socket.once("drain", onDrain);
    return isFlowing;
  }

  close(): void {
    // The program may end before the client has opened all streams.
    if (!this.#isOpen) {
      this.#waiting.push(() => this.close());
      return;
    }
    for (const stream of this.#streams.values()) stream.end();
    this.#socket.end();
  }

  #open(stream: SpdyStream, events: CommandEvents): void {
    const { streamtype: type = "" } = stream.headers;
    this.#streams.set(type, stream);
    if (type === "stdin") {
      stream.onData = (data) => events.onInput(data);
      stream.onEnd = () => events.onInputEnd();
    } else if (type === "resize") stream.onData = (data) => events.onResize(data);
    if (this.#isOpen) for (const act of this.#waiting.splice(0)) act();
  }

  get #isOpen(): boolean {
    return this.#expected.every((name) => this.#streams.has(name));
  }
}
