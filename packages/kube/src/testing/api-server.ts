/** A real HTTP(S) server on loopback. The test decides the responses; the server records requests and connections. */
import { once } from "node:events";
import * as http from "node:http";
import * as https from "node:https";
import type { AddressInfo, Socket } from "node:net";

export type Seen = {
  readonly method: string;
  readonly url: URL;
  readonly headers: http.IncomingHttpHeaders;
  readonly body: string;
  readonly socket: Socket;
  readonly response: http.ServerResponse;
};

type Handler = (seen: Seen) => void | Promise<void>;

export class ApiServer {
  readonly seen: Seen[] = [];
  readonly sockets = new Set<Socket>();
  readonly url: string;
  readonly port: number;
  connections = 0;
  handler: Handler;
  readonly #server: http.Server;
  readonly #waiters: (() => void)[] = [];

  private constructor(server: http.Server, handler: Handler, url: string, port: number) {
    this.#server = server;
    this.handler = handler;
    this.url = url;
    this.port = port;
  }

  static async start(handler: Handler, tls?: https.ServerOptions): Promise<ApiServer> {
    const server = tls ? https.createServer(tls) : http.createServer();
    server.keepAliveTimeout = 0;
    server.listen(0, "127.0.0.1");
    await once(server, "listening");
    const { port } = server.address() as AddressInfo;
    const api = new ApiServer(server, handler, `${tls ? "https" : "http"}://127.0.0.1:${port}`, port);
    server.on(tls ? "secureConnection" : "connection", (socket: Socket) => {
      api.connections += 1;
      api.sockets.add(socket);
      socket.on("close", () => api.sockets.delete(socket));
      socket.on("error", () => {});
    });
    server.on("tlsClientError", () => {});
    server.on("request", (request: http.IncomingMessage, response: http.ServerResponse) => {
      void api.#receive(request, response);
    });
    return api;
  }

  /** Resolves with the last of the first `count` requests, once they have arrived. */
  async requests(count: number): Promise<Seen> {
    while (this.seen.length < count) await new Promise<void>((resolve) => this.#waiters.push(resolve));
    return this.seen[count - 1] as Seen;
  }

  dropConnections(): void {
    for (const socket of this.sockets) socket.destroy();
  }

  async close(): Promise<void> {
    this.#server.close();
    this.#server.closeAllConnections();
    this.dropConnections();
    if (this.#server.listening) await once(this.#server, "close");
  }

  async #receive(request: http.IncomingMessage, response: http.ServerResponse): Promise<void> {
    let body = "";
    request.setEncoding("utf8");
    try {
      for await (const chunk of request) body += chunk;
    } catch {
      return;
    }
    const url = new URL(request.url ?? "/", this.url);
    const { method = "", headers, socket } = request;
    const seen = { method, url, headers, body, socket, response };
    this.seen.push(seen);
    for (const wake of this.#waiters.splice(0)) wake();
    await this.handler(seen);
  }
}

export function sendJson(
  seen: Seen,
  status: number,
  body: unknown,
  headers: http.OutgoingHttpHeaders = {},
): void {
  seen.response.writeHead(status, { "content-type": "application/json", ...headers });
  seen.response.end(JSON.stringify(body));
}

/** A Kubernetes Status. */
export function status(code: number, reason: string, message: string, details: object = {}): object {
  return { kind: "Status", apiVersion: "v1", status: "Failure", code, reason, message, details };
}

/** Resolves when the peer has closed this socket. */
export async function closed(socket: Socket): Promise<void> {
  if (!socket.destroyed) await once(socket, "close");
}
