/**
 * The agent's own HTTP server, on a loopback address. The API server forwards requests for logs and for programs in containers
 * to it. Every request needs a secret that only the API server can read.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { ApiClient } from "../../client/api.ts";
import type { Node } from "../../client/objects.ts";
import type { NodePlatform } from "../platform.ts";
import type { PodManager } from "../pod/pod-manager.ts";
import { AgentError } from "./agent-error.ts";
import { serveLogs } from "./serve-logs.ts";

interface AgentServerOptions {
  readonly manager: PodManager;
  readonly platform: NodePlatform;
  readonly host: string;
}

const secretNamespace = "kube-system";

export class AgentServer {
  readonly #options: AgentServerOptions;
  readonly #secret: string;
  readonly #http: Server;

  constructor(options: AgentServerOptions) {
    this.#options = options;
    this.#secret = options.platform.randomSecret();
    this.#http = createServer((request, response) => void this.#handle(request, response));
  }

  /** Resolves with the port. */
  async listen(): Promise<number> {
    await new Promise<void>((resolve, reject) => {
      this.#http.once("error", reject).listen(0, this.#options.host, resolve);
    });
    return (this.#http.address() as AddressInfo).port;
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
    const closed = new Promise<void>((resolve) => this.#http.close(() => resolve()));
    this.#http.closeAllConnections();
    await closed;
  }

  async #handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    try {
      this.#authenticate(request);
      const url = new URL(request.url ?? "/", "http://agent");
      const [, action = "", namespace = "", pod = "", container = ""] = url.pathname
        .split("/")
        .map(decodeURIComponent);
      if (action !== "containerLogs") throw new AgentError(404, "there is no such path");
      const { manager, platform } = this.#options;
      const target = { namespace, pod, container };
      await serveLogs({ manager, platform, target, query: url.searchParams, response });
    } catch (error) {
      sendError(response, error);
    }
  }

  #authenticate({ headers }: IncomingMessage): void {
    if (headers.authorization !== `Bearer ${this.#secret}`) throw new AgentError(401, "Unauthorized");
  }
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
