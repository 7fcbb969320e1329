/**
 * `kubectl port-forward`: for each connection the client opens two streams, one for data and one for an error, with SPDY. A
 * WebSocket may be around it.
 */
import type { IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import type { Duplex } from "node:stream";
import { messageOf } from "@tenure/base";
import { SpdyConnection, type SpdyStream } from "./spdy.ts";
import { acceptSpdy, isSpdy } from "./spdy-upgrade.ts";
import { acceptWebSocket } from "./websocket.ts";

const webSocketProtocols = ["SPDY/3.1+portforward.k8s.io"];

interface PortForwardRequest {
  /** Connects to a port of the pod. */
  connect(port: number): Promise<Socket>;
  readonly incoming: IncomingMessage;
  readonly socket: Duplex;
  readonly head: Buffer;
}

interface Pair {
  data?: SpdyStream;
  error?: SpdyStream;
}

export function servePortForward({ connect, incoming, socket, head }: PortForwardRequest): void {
  const pairs = new Map<string, Pair>();
  const onStream = (stream: SpdyStream) => {
    const { requestid: id = "", streamtype: type = "", port = "" } = stream.headers;
    const pair = pairs.get(id) ?? {};
    pairs.set(id, pair);
    if (type === "error") pair.error = stream;
    if (type === "data") pair.data = stream;
    if (!pair.data || !pair.error) return;
    pairs.delete(id);
    void forward(connect, Number(port), pair.data, pair.error);
  };
  if (isSpdy(incoming)) {
    acceptSpdy(incoming, socket, ["portforward.k8s.io"]);
    const spdy = new SpdyConnection((bytes) => void socket.write(bytes), onStream);
    const receive = (bytes: Buffer) => void spdy.receive(bytes).catch(() => socket.destroy());
    socket.on("data", receive).once("close", () => spdy.close());
    if (head.length > 0) receive(head);
    return;
  }
  const webSocket = acceptWebSocket(incoming, socket, webSocketProtocols);
  const spdy = new SpdyConnection((bytes) => void webSocket.send(bytes), onStream);
  const onMessage = (message: Buffer) => {
    spdy.receive(message).catch(() => webSocket.close(1002));
  };
  webSocket.start({ onMessage, onClose: () => spdy.close() }, head);
}

async function forward(
  connect: (port: number) => Promise<Socket>,
  port: number,
  data: SpdyStream,
  error: SpdyStream,
): Promise<void> {
  // What arrives before the connection exists.
  const early: Buffer[] = [];
  let hasEnded = false;
  data.onData = (bytes) => void early.push(bytes);
  data.onEnd = () => {
    hasEnded = true;
  };
  const fail = (problem: unknown) =>
    error.write(Buffer.from(`Cannot connect to port ${port} of the pod: ${messageOf(problem)}`));
  let backend: Socket;
  try {
    backend = await connect(port);
  } catch (problem) {
    fail(problem);
    data.end();
    error.end();
    return;
  }
  data.onData = (bytes) => void backend.write(bytes);
  data.onEnd = () => void backend.end();
  data.onReset = () => void backend.destroy();
  for (const bytes of early) backend.write(bytes);
  if (hasEnded) backend.end();
  backend.on("data", (bytes: Buffer) => data.write(bytes));
  backend.once("end", () => data.end());
  backend.once("error", fail);
  backend.once("close", () => {
    data.end();
    error.end();
  });
}
