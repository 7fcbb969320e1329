/**
 * `kubectl port-forward`: for each connection the client opens two streams, one for data and one for an error. The WebSocket
 * carries SPDY frames.
 */
import type { IncomingMessage } from "node:http";
import { connect } from "node:net";
import type { Duplex } from "node:stream";
import { messageOf } from "@tenure/base";
import { SpdyConnection, type SpdyStream } from "./spdy.ts";
import { acceptWebSocket } from "./websocket.ts";

const protocols = ["SPDY/3.1+portforward.k8s.io"];

interface PortForwardRequest {
  /** Where the node reaches the pod. */
  readonly address: string;
  readonly incoming: IncomingMessage;
  readonly socket: Duplex;
  readonly head: Buffer;
}

interface Pair {
  data?: SpdyStream;
  error?: SpdyStream;
}

export function servePortForward({ address, incoming, socket, head }: PortForwardRequest): void {
  const webSocket = acceptWebSocket(incoming, socket, protocols);
  const pairs = new Map<string, Pair>();
  const spdy = new SpdyConnection(
    (bytes) => void webSocket.send(bytes),
    (stream) => {
      const { requestid: id = "", streamtype: type = "", port = "" } = stream.headers;
      const pair = pairs.get(id) ?? {};
      pairs.set(id, pair);
      if (type === "error") pair.error = stream;
      if (type === "data") pair.data = stream;
      if (!pair.data || !pair.error) return;
      pairs.delete(id);
      forward(address, Number(port), pair.data, pair.error);
    },
  );
  const onMessage = (message: Buffer) => {
    spdy.receive(message).catch(() => webSocket.close(1002));
  };
  webSocket.start({ onMessage, onClose: () => spdy.close() }, head);
}

function forward(host: string, port: number, data: SpdyStream, error: SpdyStream): void {
  const backend = connect({ host, port, allowHalfOpen: true });
  data.onData = (bytes) => void backend.write(bytes);
  data.onEnd = () => void backend.end();
  data.onReset = () => void backend.destroy();
  backend.on("data", (bytes: Buffer) => data.write(bytes));
  backend.once("end", () => data.end());
  backend.once("error", (problem) => {
    error.write(Buffer.from(`Cannot connect to port ${port} of the pod at ${host}: ${messageOf(problem)}`));
  });
  backend.once("close", () => {
    data.end();
    error.end();
  });
}
