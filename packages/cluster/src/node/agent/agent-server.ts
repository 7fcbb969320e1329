/**
 * The agent's own HTTP server, on a loopback address. The API server forwards requests for logs and for programs in containers
 * to it. Every request needs a secret that only the API server can read.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { Duplex } from "node:stream";
import type { ApiClient } from "../../client/api.ts";
import type { Node } from "../../client/objects.ts";
import { loopbackTwin } from "../addresses.ts";
import type { NodePlatform } from "../platform.ts";
import type { PodManager } from "../pod/pod-manager.ts";
import type { AgentAddress } from "../register/node-object.ts";
import { AgentError } from "./agent-error.ts";
import { serveAttach, serveExec } from "./serve-command.ts";
import { serveLogs } from "./serve-logs.ts";
import { servePortForward } from "./serve-port-forward.ts";
import { serveProxy } from "./serve-proxy.ts";

interface AgentServerOptions {
  readonly manager: PodManager;
  readonly platform: NodePlatform;
}

/** The port of the kubelet. */
const agentPort = 10_250;

const secretNamespace = "kube-system";

export class AgentServer {
  readonly #options: AgentServerOptions;
  readonly #secret: string;
  readonly #http: Server;
  readonly #upgraded = new Set<Duplex>();

  constructor(options: AgentServerOptions) {
    this.#options = options;
    this.#secret = options.platform.randomSecret();
    this.#http = createServer((request, response) => void this.#handle(request, response));
    this.#http.on("upgrade", (request, socket, head) => void this.#upgrade(request, socket, head));
  }

  /**
   * Listens on the first address of a network for pods. Resolves with undefined if another agent of this machine does: the
   * pods of both would have the same addresses. Machines with one loopback address only, like macOS, use that.
   */
  async claim(network: string): Promise<AgentAddress | undefined> {
    const wanted = loopbackTwin(network.replace(/\.0\/24$/, ".1"));
    if (this.#http.listening) {
      if (this.#address().address === wanted) return this.#address();
      await this.close();
    }
    const problem = await this.#listen(wanted, agentPort);
    if (problem === undefined) return this.#address();
    if (problem !== "EADDRNOTAVAIL") return undefined;
    return (await this.#listen("127.0.0.1", 0)) === undefined ? this.#address() : undefined;
  }

  #address(): AgentAddress {
    const { address, port } = this.#http.address() as AddressInfo;
    return { address, port };
  }

  /** Resolves with the error code if it cannot listen. */
  #listen(host: string, port: number): Promise<string | undefined> {
    return new Promise((resolve) => {
      const onError = (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message);
      this.#http.once("error", onError).listen(port, host, () => {
        this.#http.off("error", onError);
        resolve(undefined);
      });
    });
  }

  /** Gives the secret to the API server, in a Secret that pods cannot read. */
  async publish(client: ApiClient, node: Node): Promise<void> {
    const { name, uid } = node.metadata;
    const collection = `/api/v1/namespaces/${secretNamespace}/secrets`;
    const body = {
      apiVersion: "v1",
      kind: "Secret",
      metadata: {
        name: `node-agent-${name}`,
        ownerReferences: [{ apiVersion: "v1", kind: "Node", name, uid }],
      },
      type: "tenure.dev/node-agent",
      data: { token: Buffer.from(this.#secret).toString("base64") },
    };
    await client.request({ method: "POST", path: collection, body }).catch(async (error: unknown) => {
      if ((error as { code?: unknown }).code !== "AlreadyExists") throw error;
      const path = `${collection}/node-agent-${name}`;
      const contentType = "application/merge-patch+json";
      await client.request({ method: "PATCH", path, contentType, body: { ...body, type: undefined } });
    });
  }

  async close(): Promise<void> {
    if (!this.#http.listening) return;
    const closed = new Promise<void>((resolve) => this.#http.close(() => resolve()));
    this.#http.closeAllConnections();
    for (const socket of this.#upgraded) socket.destroy();
    await closed;
  }

  async #handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    try {
      this.#authenticate(request);
      const { action, target, query } = parse(request);
      const { manager, platform } = this.#options;
      if (action === "proxy") return await serveProxy(manager, request, response);
      if (action !== "containerLogs") throw new AgentError(404, "there is no such path");
      await serveLogs({ manager, platform, target, query, response });
    } catch (error) {
      sendError(response, error);
    }
  }

  async #upgrade(incoming: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    this.#upgraded.add(socket);
    socket.on("error", () => {}).once("close", () => this.#upgraded.delete(socket));
    try {
      this.#authenticate(incoming);
      const { action, target, query } = parse(incoming);
      const worker = this.#options.manager.find(target.namespace, target.pod);
      if (!worker) throw new AgentError(404, `pod ${JSON.stringify(target.pod)} does not run on this node`);
      if (action === "portForward") {
        const connect = (port: number) => worker.runtime.connect(port);
        servePortForward({ connect, incoming, socket, head });
        return;
      }
      const running = worker.runtime.running(target.container);
      if (!running) throw new AgentError(400, `container ${JSON.stringify(target.container)} is not running`);
      const { kill } = this.#options.platform;
      const request = { running, query, incoming, socket, head, kill };
      if (action === "exec") await serveExec(request);
      else if (action === "attach") await serveAttach(request);
      else throw new AgentError(404, "there is no such path");
    } catch (error) {
      const code = error instanceof AgentError ? error.status : 500;
      const reason = code === 404 ? "NotFound" : code === 400 ? "BadRequest" : "InternalError";
      const message = error instanceof Error ? error.message : String(error);
      const status = {
        kind: "Status",
        apiVersion: "v1",
        metadata: {},
        status: "Failure",
        message,
        reason,
        code,
      };
      const body = JSON.stringify(status);
      const head = `HTTP/1.1 ${code} ${reason}\r\nContent-Type: application/json\r\nConnection: close`;
      socket.end(`${head}\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`);
    }
  }

  #authenticate({ headers }: IncomingMessage): void {
    if (headers.authorization !== `Bearer ${this.#secret}`) throw new AgentError(401, "Unauthorized");
  }
}

function parse({ url = "/" }: IncomingMessage) {
  const { pathname, searchParams: query } = new URL(url, "http://agent");
  const [, action = "", namespace = "", pod = "", container = ""] = pathname
    .split("/")
    .map(decodeURIComponent);
  return { action, target: { namespace, pod, container }, query };
}

function sendError(response: ServerResponse, error: unknown): void {
  if (response.headersSent) {
    response.destroy();
    return;
  }
  const status = error instanceof AgentError ? error.status : 500;
  response.writeHead(status, { "Content-Type": "text/plain; charset=utf-8" });
  response.end(error instanceof Error ? error.message : String(error));
}
