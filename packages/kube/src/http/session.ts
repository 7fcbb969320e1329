/**
 * One configuration in use: address, proxy, agents. Requests share one pool of keep-alive sockets of bounded size, each
 * watch has an agent of its own. A pool in which a request failed is retired as a whole: after a partition, its other
 * sockets are as dead.
 */
import type * as http from "node:http";
import type { AgentOptions } from "node:https";
import type { ClusterConfig } from "../config.ts";
import { KubeError } from "../errors.ts";
import type { Platform } from "../platform.ts";
import { Pools } from "./pool.ts";
import { proxyFromEnv } from "./proxy-env.ts";
import { bareHost, parseServer } from "./server-address.ts";

export type Outgoing = {
  readonly method: string;
  /** Path and query, without the prefix of the server. */
  readonly path: string;
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  readonly agent: http.Agent;
};

export class Session {
  readonly config: ClusterConfig;
  /** For messages. */
  readonly server: string;
  readonly #open: (outgoing: Outgoing, tls: object) => http.ClientRequest;
  /** Where requests find their connections. */
  readonly pools: Pools;
  readonly #newAgent: (keepAlive: boolean) => http.Agent;
  /** Tunnels in the making: a retired pool may still wait for one. */
  readonly #pending: ReadonlySet<http.ClientRequest>;
  #lastTls = "";

  constructor(
    config: ClusterConfig,
    server: string,
    open: (outgoing: Outgoing, tls: object) => http.ClientRequest,
    newAgent: (keepAlive: boolean) => http.Agent,
    pending: ReadonlySet<http.ClientRequest>,
    pools: Pools,
  ) {
    this.#pending = pending;
    this.config = config;
    this.server = server;
    this.#open = open;
    this.#newAgent = newAgent;
    this.pools = pools;
  }

  /** An agent for one watch; the caller destroys it. */
  watchAgent(): http.Agent {
    return this.#newAgent(false);
  }

  /** Starts a request with the current credentials; `prepare` comes before it, as it may take time. */
  async prepare(): Promise<(outgoing: Outgoing) => http.ClientRequest> {
    const { credentials, ca, skipTlsVerify, tlsServerName } = this.config;
    const [identity, headers] = await asKubeError(() =>
      Promise.all([credentials.tls(), credentials.headers()]),
    );
    const tls = {
      ca: identity.ca ?? ca,
      cert: identity.cert,
      key: identity.key,
      rejectUnauthorized: !skipTlsVerify,
      ...(tlsServerName ? { servername: tlsServerName } : {}),
    };
    const seen = `${tls.ca}\n${tls.cert}`;
    // A connection keeps the identity it was opened with, so a new certificate needs new connections.
    if (this.#lastTls !== "" && this.#lastTls !== seen) this.pools.retire();
    this.#lastTls = seen;
    return (outgoing) => this.#open({ ...outgoing, headers: { ...outgoing.headers, ...headers } }, tls);
  }

  /** The server refused the credentials: get them anew. */
  async refresh(): Promise<void> {
    await asKubeError(() => this.config.credentials.refresh());
  }

  close(): void {
    for (const request of this.#pending) request.destroy();
    this.pools.destroy();
  }
}

/** `Credentials` may be anybody's code and throw anything. */
async function asKubeError<T>(get: () => Promise<T>): Promise<T> {
  try {
    return await get();
  } catch (error) {
    if (error instanceof KubeError) throw error;
    throw new KubeError("BadConfig", `Cannot get credentials: ${(error as Error)?.message ?? error}`, {
      cause: error,
    });
  }
}

export async function openSession(
  config: ClusterConfig,
  { platform, userAgent, maxConnections }: { platform: Platform; userAgent: string; maxConnections: number },
): Promise<Session> {
  const url = parseServer(config.server);
  const isTls = url.protocol === "https:";
  const { request, Agent } = isTls ? await import("node:https") : await import("node:http");
  const proxyUrl = config.proxyUrl || proxyFromEnv(url, platform.env);
  const tunnel = proxyUrl ? await import("./tunnel-agent.ts") : undefined;
  const proxy = proxyUrl ? tunnel?.parseProxy(proxyUrl) : undefined;

  const pending = new Set<http.ClientRequest>();
  const newAgent = (keepAlive: boolean): http.Agent => {
    // A request may come a moment before the connection of the one that it follows is free.
    const agent: AgentOptions = { keepAlive, keepAliveMsecs: 15_000, maxSockets: maxConnections };
    if (tunnel && proxy) return new tunnel.TunnelAgent({ proxy, isTls, platform, agent, pending });
    return new Agent(agent);
  };
  const prefix = url.pathname.replace(/\/+$/, "");
  const target = {
    protocol: url.protocol,
    host: bareHost(url.hostname),
    port: url.port || (isTls ? 443 : 80),
    // Node gives each address of a host a quarter of a second, which a distant cluster may need for one round trip.
    autoSelectFamilyAttemptTimeout: 1_000,
  };
  const open = ({ method, path, headers, agent }: Outgoing, tls: object): http.ClientRequest =>
    request({
      ...target,
      ...(isTls && tls),
      method,
      agent,
      path: prefix + path,
      headers: {
        accept: "application/json",
        "user-agent": userAgent,
        ...headers,
      } as http.OutgoingHttpHeaders,
    });
  const pools = new Pools(
    () => newAgent(true),
    maxConnections,
    () => platform.monotonicMs(),
  );
  return new Session(config, url.origin, open, newAgent, pending, pools);
}
