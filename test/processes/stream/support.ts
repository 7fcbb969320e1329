/** A service of numbered messages, servers that misbehave, and a consumer that waits in virtual time. */
import * as http2 from "node:http2";
import { type AddressInfo, createServer, type Server, type Socket } from "node:net";
import {
  type ClientReadableStream,
  credentials,
  Client as GrpcClient,
  Server as GrpcServer,
  type Metadata,
  ServerCredentials,
  type ServerWritableStream,
} from "@grpc/grpc-js";
import { VirtualClock } from "@tenure/base/virtual-clock";
import { type ConsumerOptions, StreamConsumer } from "@tenure/stream";

export interface Item {
  readonly id: number;
  readonly text: string;
}

const encode = (value: unknown) => Buffer.from(JSON.stringify(value));
const decode = (bytes: Buffer) => JSON.parse(bytes.toString());

const path = "/test.Items/Subscribe";

export class ItemsClient extends GrpcClient {
  subscribe(request: { after: number }, metadata: Metadata): ClientReadableStream<Item> {
    return this.makeServerStreamRequest(path, encode, decode, request, metadata);
  }
}

export type Call = ServerWritableStream<{ after: number }, Item>;

/** Closes what a test has opened. */
const opened: (() => unknown)[] = [];

export async function closeAll(): Promise<void> {
  for (const close of opened.splice(0).reverse()) await close();
}

export function atTheEnd(close: () => unknown): void {
  opened.push(close);
}

export async function serveItems(handle: (call: Call) => void, port = 0): Promise<number> {
  const server = new GrpcServer();
  server.addService(
    {
      subscribe: {
        path,
        requestStream: false,
        responseStream: true,
        requestSerialize: encode,
        requestDeserialize: decode,
        responseSerialize: encode,
        responseDeserialize: decode,
      },
    },
    { subscribe: handle },
  );
  opened.push(() => server.forceShutdown());
  return new Promise((resolve, reject) => {
    server.bindAsync(`127.0.0.1:${port}`, ServerCredentials.createInsecure(), (error, bound) =>
      error ? reject(error) : resolve(bound),
    );
  });
}

/** A TCP server that counts its connections. */
export async function serveSockets(
  onSocket: (socket: Socket) => void,
  port = 0,
): Promise<{ port: number; readonly connections: number; readonly open: number }> {
  const sockets = new Set<Socket>();
  let connections = 0;
  const server = createServer((socket) => {
    connections++;
    sockets.add(socket);
    socket.on("error", () => {});
    socket.on("close", () => sockets.delete(socket));
    // A socket notices its end only while it is read.
    socket.resume();
    onSocket(socket);
  });
  await listen(server, port);
  opened.push(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  return {
    port: (server.address() as AddressInfo).port,
    get connections() {
      return connections;
    },
    get open() {
      return sockets.size;
    },
  };
}

/** An HTTP/2 server. `onStream` decides what happens to each stream. */
export async function serveHttp2(onStream: (stream: http2.ServerHttp2Stream) => void): Promise<number> {
  const server = http2.createServer();
  const sessions = new Set<http2.ServerHttp2Session>();
  server.on("session", (session) => {
    sessions.add(session);
    session.on("error", () => {});
    session.on("close", () => sessions.delete(session));
  });
  server.on("stream", (stream) => {
    stream.on("error", () => {});
    onStream(stream);
  });
  await listen(server as unknown as Server, 0);
  opened.push(() => {
    for (const session of sessions) session.destroy();
    server.close();
  });
  return (server.address() as AddressInfo).port;
}

/** A port on which no process listens. */
export async function freePort(): Promise<number> {
  const server = createServer();
  await listen(server, 0);
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

function listen(server: Server, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, "127.0.0.1", resolve);
  });
}

type Options = Partial<ConsumerOptions<ItemsClient, Item, number>>;

/** A consumer on real sockets whose back-off runs in virtual time. */
export function consume(port: number, options: Options = {}) {
  const clock = new VirtualClock();
  const handled: number[] = [];
  const consumer = new StreamConsumer<ItemsClient, Item, number>({
    client: (channel) => new ItemsClient(`127.0.0.1:${port}`, credentials.createInsecure(), channel),
    open: (client, { cursor, metadata }) => client.subscribe({ after: cursor ?? 0 }, metadata),
    cursor: ({ id }) => id,
    handle: ({ id }) => handled.push(id),
    clock,
    // No jitter: every wait has its full length.
    random: () => 1,
    ...options,
  });
  atTheEnd(() => consumer.shutdown(0));
  const broken: { retryInMs: number; message: string; status: number | undefined }[] = [];
  consumer.on("broken", ({ retryInMs, error }) =>
    broken.push({ retryInMs, message: error.message, status: error.status }),
  );
  const run = consumer.start().catch((error: Error) => error);
  /** Waits until the stream has broken this many times. Lets each back-off pass in between. */
  const breaks = async (times: number) => {
    for (let time = 1; time <= times; time++) {
      await until(() => broken.length >= time, `break ${time}`);
      if (time < times) await clock.pass(broken[time - 1]?.retryInMs ?? 0);
    }
    return broken;
  };
  return { consumer, clock, handled, broken, breaks, run };
}

/** Polls until the condition holds. */
export async function until(condition: () => boolean, what: string, withinMs = 20_000): Promise<void> {
  const endMs = Date.now() + withinMs;
  while (!condition()) {
    if (Date.now() > endMs) throw new Error(`${what} did not happen within ${withinMs} ms`);
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
}

/** How many sockets this process has open. */
export function openSockets(): number {
  return process.getActiveResourcesInfo().filter((name) => name === "TCPSocketWrap").length;
}
