/** An API server behind a proxy with a fault. Works in front of the sandbox and of a real one. */
import { once } from "node:events";
import { readFile, writeFile } from "node:fs/promises";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { request } from "node:https";
import type { AddressInfo } from "node:net";
import { dump, load } from "js-yaml";

export type Flaw = "slow" | "stalled-watch" | "cut-watch" | "wrong-clock" | "wrong-token";

const latencyMs = 400;
const clockOffMs = 3_600_000;

interface Kubeconfig {
  clusters: [{ cluster: { server: string; "certificate-authority-data"?: string } }];
  users: [{ user: object }];
}

export interface FlawedServer {
  readonly kubeconfig: string;
  close(): void;
}

/** @param kubeconfig that of the server behind the proxy; its copy for the proxy is written beside `file` */
export async function startFlawed(kubeconfig: string, file: string, flaw: Flaw): Promise<FlawedServer> {
  const config = load(await readFile(kubeconfig, "utf8")) as Kubeconfig;
  const { cluster } = config.clusters[0];
  const upstream = new URL(cluster.server);
  const ca = Buffer.from(cluster["certificate-authority-data"] ?? "", "base64");
  const server = createServer((incoming, outgoing) => {
    const isWatch = /[?&]watch=(true|1)\b/.test(incoming.url ?? "");
    const isLease = incoming.url?.includes("/leases") ?? false;
    if (isWatch && flaw === "cut-watch") {
      incoming.socket.destroy();
      return;
    }
    const waitMs = flaw === "slow" && isLease && incoming.method === "GET" ? latencyMs : 0;
    setTimeout(() => forward(incoming, outgoing, isWatch && flaw === "stalled-watch"), waitMs);
  });
  const forward = (incoming: IncomingMessage, outgoing: ServerResponse, isStalled: boolean) => {
    const { method, headers, url: path } = incoming;
    const { hostname, port } = upstream;
    const sent = request({ hostname, port, path, method, ca, headers: { ...headers, host: upstream.host } });
    sent.on("response", (response) => {
      const date = new Date(Date.now() - (flaw === "wrong-clock" ? clockOffMs : 0)).toUTCString();
      outgoing.writeHead(response.statusCode ?? 502, { ...response.headers, date });
      outgoing.flushHeaders();
      if (isStalled) response.resume();
      else response.pipe(outgoing);
    });
    sent.on("error", () => outgoing.destroy());
    outgoing.on("close", () => sent.destroy());
    incoming.pipe(sent);
  };
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  cluster.server = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  delete cluster["certificate-authority-data"];
  if (flaw === "wrong-token") config.users[0].user = { token: "wrong" };
  await writeFile(file, dump(config));
  return {
    kubeconfig: file,
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}
