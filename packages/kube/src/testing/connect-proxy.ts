/** A real CONNECT proxy on loopback. Every tunnel leads to the same target, whatever host the client requests. */
import { once } from "node:events";
import * as http from "node:http";
import * as https from "node:https";
import { type AddressInfo, connect, type Socket } from "node:net";

type ConnectProxy = {
  readonly url: string;
  readonly port: number;
  readonly requests: { authority: string; authorization: string | undefined }[];
  /** The socket of the first client. */
  client(): Promise<Socket>;
  close(): Promise<void>;
};

export async function startProxy(options: {
  targetPort: number;
  refuse?: number;
  silent?: boolean;
  tls?: https.ServerOptions;
}): Promise<ConnectProxy> {
  const server = options.tls ? https.createServer(options.tls) : http.createServer();
  const sockets = new Set<Socket>();
  const waiters: (() => void)[] = [];
  const requests: ConnectProxy["requests"] = [];
  server.on("connect", (request: http.IncomingMessage, client: Socket) => {
    sockets.add(client);
    client.on("error", () => {});
    requests.push({ authority: request.url ?? "", authorization: request.headers["proxy-authorization"] });
    for (const wake of waiters.splice(0)) wake();
    if (options.silent) {
      // A socket notices that its peer has closed only while it is read, and is then half open.
      client.resume().on("end", () => client.destroy());
      return;
    }
    if (options.refuse) {
      client.end(`HTTP/1.1 ${options.refuse} Nope\r\n\r\n`);
      return;
    }
    const target = connect(options.targetPort, "127.0.0.1", () => {
      client.write("HTTP/1.1 200 OK\r\n\r\n");
      target.pipe(client);
      client.pipe(target);
    });
    target.on("error", () => client.destroy());
    client.on("close", () => target.destroy());
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  return {
    url: `${options.tls ? "https" : "http"}://127.0.0.1:${port}`,
    port,
    requests,
    async client() {
      while (sockets.size === 0) await new Promise<void>((resolve) => waiters.push(resolve));
      return [...sockets][0] as Socket;
    },
    async close() {
      for (const socket of sockets) socket.destroy();
      server.close();
      server.closeAllConnections();
      await once(server, "close");
    },
  };
}
