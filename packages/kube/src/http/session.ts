/**
 * The connections to one cluster: address, proxy, agents. Requests share a bounded pool of keep-alive sockets; each watch has
 * its own agent. When a request fails, its whole pool is retired: after a network partition its other sockets are dead too.
 */
import type * as http from "node:http";
import type { AgentOptions } from "node:https";
import { isIP } from "node:net";
import type { Duplex } from "node:stream";
import { messageOf } from "@tenure/base";
import type { ClusterConfig, TlsMaterial } from "../config.ts";
import { KubeError } from "../errors.ts";
import type { Platform } from "../platform.ts";
import { Pools } from "./pool.ts";
import { proxyFromEnv } from "./proxy-env.ts";
import { bareHost, parseServer } from "./server-address.ts";

export type Outgoing = {
  readonly method: string;
  /** Path and query, without the server's path prefix. */
  readonly path: string;
  readonly headers: Headers;
};

type Headers = Readonly<Record<string, string | readonly string[]>>;

/** Starts a request on a connection of the agent. */
export type Open = (outgoing: Outgoing, agent: http.Agent) => http.ClientRequest;

/** How to connect. Without TLS, Node ignores most of it. */
type TlsOptions = {
  readonly ca: string | undefined;
  readonly cert: string | undefined;
  readonly key: string | undefined;
  readonly rejectUnauthorized: boolean;
  readonly servername?: string;
  /** Requests may share a connection if this is the same. */
  readonly socketName: string;
  readonly autoSelectFamilyAttemptTimeout: number;
};

type OpenWith = (
  outgoing: Outgoing,
  agent: http.Agent,
  connection: TlsOptions,
  credentials: Headers,
) => http.ClientRequest;

/** Opens a connection, which the agent uses instead of its next new one. Returns a function that closes it. */
type ConnectAhead = (tls: TlsOptions, agent: http.Agent) => () => void;

export class Session {
  readonly config: ClusterConfig;
  /** For messages. */
  readonly server: string;
  readonly #open: OpenWith;
  readonly pools: Pools;
  readonly #newAgent: (keepAlive: boolean) => http.Agent;
  /** Proxy tunnels that are being opened. A retired pool may still wait for one. */
  readonly #pending: ReadonlySet<http.ClientRequest>;
  readonly #connectAhead: ConnectAhead;
  #closeAhead = (): void => {};
  #isClosed = false;
  #tls: TlsOptions | undefined;

  constructor(
    config: ClusterConfig,
    server: string,
    open: OpenWith,
    newAgent: (keepAlive: boolean) => http.Agent,
    pending: ReadonlySet<http.ClientRequest>,
    pools: Pools,
    connectAhead: ConnectAhead,
  ) {
    this.#connectAhead = connectAhead;
    this.#pending = pending;
    this.config = config;
    this.server = server;
    this.#open = open;
    this.#newAgent = newAgent;
    this.pools = pools;
  }

  /** An agent for one watch. The caller destroys it. */
  watchAgent(): http.Agent {
    return this.#newAgent(false);
  }

  /**
   * Opens the connection of the first request before there is a request. If this fails, the request opens its own, and reports
   * what is wrong.
   */
  async connectAhead(): Promise<void> {
    const { credentials } = this.config;
    const tls = this.#tlsOptions(await credentials.tls());
    if (!this.#isClosed) this.#closeAhead = this.#connectAhead(tls, this.pools.agent);
  }

  /** Loads the credentials, which may take time. The returned function then starts a request with them. */
  async prepare(): Promise<Open> {
    const { credentials } = this.config;
    const [identity, headers] = await asKubeError(() =>
      Promise.all([credentials.tls(), credentials.headers()]),
    );
    const tls = this.#tlsOptions(identity);
    return (outgoing, agent) => this.#open(outgoing, agent, tls, headers);
  }

  /** A connection keeps the certificate that it was opened with, so a new certificate needs new connections. */
  #tlsOptions({ ca = this.config.ca, cert, key }: TlsMaterial): TlsOptions {
    const last = this.#tls;
    if (last && last.ca === ca && last.cert === cert && last.key === key) return last;
    if (last) this.pools.retire();
    const { skipTlsVerify, tlsServerName } = this.config;
    this.#tls = {
      ca,
      cert,
      key,
      rejectUnauthorized: !skipTlsVerify,
      ...(tlsServerName ? { servername: tlsServerName } : {}),
      socketName: `${Number(last?.socketName ?? 0) + 1}`,
      // Node's default for each address of a host is 250 ms. One round trip to a distant cluster may take that long.
      autoSelectFamilyAttemptTimeout: 1_000,
    };
    return this.#tls;
  }

  /** The server rejected the credentials: get new ones. */
  async refresh(): Promise<void> {
    await asKubeError(() => this.config.credentials.refresh());
  }

  /** Adds to the error of a failed request that the credentials may be outdated, if they may. */
  explain(error: unknown): unknown {
    const problem = this.config.credentials.problem?.();
    if (problem === undefined || !(error instanceof KubeError)) return error;
    const { code, message, cause, status, reason, retryAfterMs, details } = error;
    const sentence = /[.?]$/.test(message) ? message : `${message}.`;
    return new KubeError(code, `${sentence} ${problem}`, { cause, status, reason, retryAfterMs, details });
  }

  close(): void {
    this.#isClosed = true;
    this.#closeAhead();
    for (const request of this.#pending) request.destroy();
    this.pools.destroy();
  }
}

/**
 * The part of Node's agents with which they open a connection. How to connect is one option of a request, `connection`: Node copies
 * all options of every request, and many options take it longer than encrypting the request.
 */
type ConnectingAgent = {
  options: object;
  getName(options?: RequestOptions): string;
  createConnection(options: RequestOptions, callback?: (error: Error | null, socket: Duplex) => void): Duplex;
};

type RequestOptions = { readonly connection?: TlsOptions };

function connectByOption(agent: http.Agent): http.Agent {
  const connecting = agent as unknown as ConnectingAgent;
  const connect = connecting.createConnection;
  connecting.createConnection = (options, callback) =>
    connect.call(agent, { ...options, ...options.connection }, callback);
  // Which requests may use the same socket. All requests of a session go to one server, so only the certificates matter. The name
  // that Node makes contains all certificates and keys.
  connecting.getName = (options) => options?.connection?.socketName ?? "";
  return agent;
}

const openedAhead = new WeakSet<Duplex>();

/** Whether the connection was open before the request was sent, so that the server may have closed it meanwhile. */
export function usesOpenConnection(request: http.ClientRequest): boolean {
  return request.reusedSocket || (request.socket !== null && openedAhead.has(request.socket));
}

function connectNow(agent: http.Agent, options: RequestOptions): () => void {
  const connecting = agent as unknown as ConnectingAgent;
  const connect = connecting.createConnection;
  const socket = connect({ ...options, ...connecting.options });
  openedAhead.add(socket);
  // Whoever uses it listens for errors too.
  socket.on("error", () => {});
  connecting.createConnection = (...args) => {
    connecting.createConnection = connect;
    return socket.destroyed ? connect(...args) : socket;
  };
  return () => socket.destroy();
}

/** `Credentials` may be user code, which may throw anything. */
async function asKubeError<T>(get: () => Promise<T>): Promise<T> {
  try {
    return await get();
  } catch (error) {
    if (error instanceof KubeError) throw error;
    throw new KubeError("BadConfig", `Cannot get credentials: ${messageOf(error)}`, { cause: error });
  }
}

export async function openSession(
  config: ClusterConfig,
  { platform, userAgent, maxConnections }: { platform: Platform; userAgent: string; maxConnections: number },
): Promise<Session> {
  const url = parseServer(config.server);
  const isTls = url.protocol === "https:";
  const { request, Agent } =
    platform.http ?? (isTls ? await import("node:https") : await import("node:http"));
  const proxyUrl = config.proxyUrl || proxyFromEnv(url, platform.env);
  const tunnel = proxyUrl ? await import("./tunnel-agent.ts") : undefined;
  const proxy = proxyUrl ? tunnel?.parseProxy(proxyUrl) : undefined;

  const pending = new Set<http.ClientRequest>();
  const newAgent = (keepAlive: boolean): http.Agent => {
    // The pool limits requests. This also limits sockets, because a request may start just before the previous socket is free.
    const agent: AgentOptions = { keepAlive, keepAliveMsecs: 15_000, maxSockets: maxConnections };
    if (!tunnel || !proxy) return connectByOption(new Agent(agent));
    return connectByOption(new tunnel.TunnelAgent({ proxy, isTls, platform, agent, pending }));
  };
  const prefix = url.pathname.replace(/\/+$/, "");
  const host = bareHost(url.hostname);
  const port = url.port || (isTls ? 443 : 80);
  const common = { accept: "application/json", "user-agent": userAgent };
  const open: OpenWith = ({ method, path, headers }, agent, connection, credentials) => {
    const options = {
      host,
      port,
      method,
      agent,
      path: prefix + path,
      headers: { ...common, ...headers, ...credentials } as http.OutgoingHttpHeaders,
      connection,
    };
    return request(options);
  };
  const connectAhead: ConnectAhead = (tls, agent) => {
    // A proxy needs a request of its own first, and a simulation has no sockets.
    if (tunnel || platform.http) return () => {};
    const options = { host, port, servername: isIP(host) === 0 ? host : "", connection: tls };
    return connectNow(agent, options);
  };
  const pools = new Pools(() => newAgent(true), maxConnections, platform.clock);
  return new Session(config, url.origin, open, newAgent, pending, pools, connectAhead);
}
