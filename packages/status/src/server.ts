/**
 * Serves the status of a replica over HTTP: to probes, to Prometheus, and to applications that need to know the leader.
 * Everything that a client controls is limited: connections, headers, the time to send a request, event streams, and the
 * buffer for a client that does not read. No number of connections keeps a probe from being answered. Every client may read; a
 * change needs a unix socket or a token.
 * Not promised: that a response is still true when it arrives. Work that must not happen twice needs the fencing token.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { Socket } from "node:net";
import {
  type Clock,
  describeProblems,
  messageOf,
  oneOfProblem,
  type Problem,
  systemClock,
  wholeNumberProblem,
} from "@tenure/base";
import { ConnectionBook, type ConnectionLimits } from "./connection-book.ts";
import { StatusError } from "./errors.ts";
import { EventStream } from "./event-stream.ts";
import { addressOf, listen } from "./listen.ts";
import { type ListenAddress, parseListenAddress } from "./listen-address.ts";
import { Router, type RouterOptions } from "./routes.ts";
import { type ReadyMode, readyModes, type StatusSource } from "./source.ts";
import { StatusTracker } from "./status-tracker.ts";

export interface StatusServerOptions {
  /** `:8080` (every interface), `127.0.0.1:8080`, `unix:/run/tenure.sock`; port 0 picks a free one. */
  readonly listen: string;
  readonly source: StatusSource;
  /** When /readyz reports ready. @default "always" */
  readonly readyMode?: ReadyMode;
  /**
   * The bearer token for requests that change something, or a function that reads it for each request, because it may
   * rotate. Not needed on a unix socket. @default none: such requests are rejected over TCP
   */
  readonly token?: string | (() => Promise<string>);
  /** Serves /metrics, for example a `PrometheusMetrics`. @default /metrics responds with 404 */
  readonly metrics?: { readonly contentType: string; render(): Promise<string> };
  /** The number of event streams. At most half of the connections, and half of those of one address. @default 64 */
  readonly maxEventClients?: number;
  /** Above it, a new connection displaces the one that has waited longest for a request. @default 256 */
  readonly maxConnections?: number;
  /** The same for the connections of one address. Clients of a unix socket have no address. @default 64 */
  readonly maxConnectionsPerAddress?: number;
  /** @default the system clock */
  readonly clock?: Clock;
}

export interface StatusServer {
  /** `http://127.0.0.1:8080` or `unix:/run/tenure.sock`. */
  readonly address: string;
  /** Closes every connection. */
  close(): Promise<void>;
}

const defaultLimits: ConnectionLimits = {
  maxConnections: 256,
  maxConnectionsPerAddress: 64,
  maxEventClients: 64,
};
/** The headers of a probe are a few hundred bytes. */
const mostHeaderBytes = 8 * 1024;
const mostHeaders = 64;
/** How long a client may take to send its request. */
const requestTimeoutMs = 5_000;
/** How long a connection may be silent. Longer than the heartbeat of an event stream. */
const idleTimeoutMs = 30_000;
const keepAliveMs = 10_000;

export async function startStatusServer(options: StatusServerOptions): Promise<StatusServer> {
  const address = check(options);
  const { source, clock = systemClock } = options;
  const connections = new ConnectionBook<Socket>(limitsOf(options, address));
  const tracker = new StatusTracker(source, clock);
  const events = new EventStream(tracker, clock);
  const router = new Router({
    ...routerOptions(options),
    tracker,
    events,
    isPrivate: address.kind === "unix",
    mayStream: (socket) => connections.streams(socket),
  });
  const server = newServer((request, response) => {
    connections.asked(request.socket);
    response.on("close", () => connections.answered(request.socket));
    return router.answer(request, response);
  });
  server.on("connection", (socket) => {
    socket.on("close", () => connections.closed(socket));
    connections.opened(socket, socket.remoteAddress ?? "")?.destroy();
  });
  const stop = () => {
    events.close();
    tracker.close();
  };
  try {
    await listen(server, address);
  } catch (error) {
    stop();
    throw error;
  }
  return {
    address: addressOf(server, address),
    async close() {
      stop();
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeAllConnections();
      await closed;
    },
  };
}

function check(options: StatusServerOptions): ListenAddress {
  const { readyMode = "always", source, maxConnections, maxConnectionsPerAddress, maxEventClients } = options;
  const address = parseListenAddress(options.listen);
  const problems: Problem[] = [...address.problems];
  if (!readyModes.includes(readyMode)) problems.push(oneOfProblem("readyMode", readyModes, readyMode));
  if (readyMode === "child-ready" && !source.child) {
    const rule = "child-ready needs a child process";
    problems.push({ field: "readyMode", rule, fix: "use leader, or run the work as a child process" });
  }
  for (const [name, value] of Object.entries({ maxConnections, maxConnectionsPerAddress, maxEventClients })) {
    if (value !== undefined && !(Number.isInteger(value) && value > 0))
      problems.push(wholeNumberProblem(name, 1, value));
  }
  if (problems.length > 0 || !address.value) {
    const message = `Cannot start the status server: ${describeProblems(problems).join("; ")}.`;
    throw new StatusError("InvalidOptions", message, { problems });
  }
  return address.value;
}

function limitsOf(options: StatusServerOptions, { kind }: ListenAddress): ConnectionLimits {
  const {
    maxConnections = defaultLimits.maxConnections,
    maxConnectionsPerAddress = defaultLimits.maxConnectionsPerAddress,
    maxEventClients = defaultLimits.maxEventClients,
  } = options;
  return {
    maxConnections,
    maxConnectionsPerAddress: kind === "unix" ? maxConnections : maxConnectionsPerAddress,
    maxEventClients,
  };
}

function routerOptions({
  source,
  readyMode = "always",
  token,
  metrics,
}: StatusServerOptions): Omit<RouterOptions, "tracker" | "events" | "isPrivate" | "mayStream"> {
  return {
    source,
    readyMode,
    ...(metrics && { metrics }),
    ...(token !== undefined && { token: typeof token === "string" ? async () => token : token }),
  };
}

function newServer(answer: (request: IncomingMessage, response: ServerResponse) => Promise<void>): Server {
  const server = createServer(
    {
      maxHeaderSize: mostHeaderBytes,
      headersTimeout: requestTimeoutMs,
      requestTimeout: requestTimeoutMs,
      connectionsCheckingInterval: 1_000,
      keepAliveTimeout: keepAliveMs,
    },
    (request, response) => {
      response.on("error", () => {});
      answer(request, response).catch((error) => {
        if (response.headersSent) response.destroy();
        else response.writeHead(500, { "content-type": "text/plain" }).end(`${messageOf(error)}\n`);
      });
    },
  );
  server.maxHeadersCount = mostHeaders;
  server.timeout = idleTimeoutMs;
  return server;
}
