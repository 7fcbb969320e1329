/** A service without a network. The test controls the connection state of clients and the messages of streams. */
import { Readable } from "node:stream";
import type { ChannelOptions, GrpcClient, ServerStream } from "../consumer/server-stream.ts";

export interface Item {
  readonly id: number;
}

const states = { connecting: 1, ready: 2, failed: 3, closed: 4 } as const;

export class FakeClient implements GrpcClient {
  readonly options: ChannelOptions;
  readonly streams: FakeStream[] = [];
  isClosed = false;
  #state: number;
  #watchers: (() => void)[] = [];

  constructor(options: ChannelOptions, state: "connecting" | "ready" | "failed") {
    this.options = options;
    this.#state = states[state];
  }

  become(state: keyof typeof states): void {
    this.#state = states[state];
    for (const watcher of this.#watchers.splice(0)) watcher();
  }

  close(): void {
    this.isClosed = true;
    this.become("closed");
  }

  getChannel() {
    return {
      getConnectivityState: () => this.#state,
      watchConnectivityState: (_current: number, _deadline: Date | number, callback: () => void) => {
        this.#watchers.push(callback);
      },
    };
  }
}

class FakeStream extends Readable implements ServerStream<Item> {
  readonly cursor: number | undefined;
  readonly written: unknown[] = [];
  isCancelled = false;
  hasStatus = false;

  constructor(cursor: number | undefined) {
    super({ objectMode: true });
    this.cursor = cursor;
  }

  override _read(): void {}

  /** Turns it into a bidirectional stream, which ends when the client ends its side. */
  acceptWrites(): void {
    Object.assign(this, {
      write: (request: unknown) => void this.written.push(request),
      end: () => this.finish(),
    });
  }

  /** The server accepts the stream before it has a message. */
  sendHeaders(): void {
    this.emit("metadata", {});
  }

  send(...ids: number[]): void {
    for (const id of ids) this.push({ id });
  }

  /** As in grpc-js: the end, then the error and the status at once. Status OK comes only after all messages are read. */
  finish(code = 0, details = ""): void {
    if (this.hasStatus) return;
    this.hasStatus = true;
    this.push(null);
    if (code === 0) {
      this.once("end", () => this.emit("status", { code, details }));
      return;
    }
    this.emit("error", Object.assign(new Error(`${code}: ${details}`), { code, details }));
    this.emit("status", { code, details });
  }

  cancel(): void {
    this.isCancelled = true;
    this.finish(1, "Cancelled on client");
  }
}

/** By default, clients are connected at once. */
export class FakeService {
  readonly clients: FakeClient[] = [];
  readonly streams: FakeStream[] = [];
  connection: "connecting" | "ready" | "failed" = "ready";
  isBidirectional = false;
  /** Ends every new stream with this status. */
  refusal: { readonly code: number; readonly details: string } | undefined;

  readonly client = (options: ChannelOptions): FakeClient => {
    const client = new FakeClient(options, this.connection);
    this.clients.push(client);
    return client;
  };

  readonly open = (client: FakeClient, { cursor }: { cursor: number | undefined }): FakeStream => {
    const stream = new FakeStream(cursor);
    client.streams.push(stream);
    this.streams.push(stream);
    if (this.isBidirectional) stream.acceptWrites();
    const { refusal } = this;
    if (refusal) setImmediate(() => stream.finish(refusal.code, refusal.details));
    if (this.connection === "failed") queueMicrotask(() => stream.finish(14, "refused"));
    return stream;
  };

  get stream(): FakeStream {
    const stream = this.streams.at(-1);
    if (!stream) throw new Error("no stream was opened");
    return stream;
  }

  get openClients(): number {
    return this.clients.filter(({ isClosed }) => !isClosed).length;
  }
}
