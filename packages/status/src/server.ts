/**
 * The status of a replica over HTTP: for probes, for Prometheus, and for an application that asks who leads.
 * Bounded in everything that somebody else decides: connections, headers, time to send a request, event streams, and how
 * much is kept for a client that does not read. Whoever reaches it may read; only a unix socket or a token may change.
 * Not promised: that an answer is still true when it arrives. What must not be done twice is fenced by its token.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import {
  type Clock,
  describeProblems,
  messageOf,
  oneOfProblem,
  type Problem,
  systemClock,
  wholeNumberProblem,
} from "@tenure/base";
import { StatusBoard } from "./board.ts";
import { StatusError } from "./errors.ts";
import { EventStream } from "./event-stream.ts";
import { addressOf, listen } from "./listen.ts";
import { type ListenAddress, parseListenAddress } from "./listen-address.ts";
import { Router, type RouterOptions } from "./routes.ts";
import { type ReadyMode, readyModes, type StatusSource } from "./source.ts";

export interface StatusServerOptions {
  /** `:8080` (every interface), `127.0.0.1:8080`, `unix:/run/tenure.sock`; port 0 picks a free one. */
  readonly listen: string;
  readonly source: StatusSource;
  /** What /readyz means. @default "always" */
  readonly readyMode?: ReadyMode;
  /**
   * The bearer token for calls that change something, or where to get it at each call, as it may rotate. Not needed on a
   * unix socket. @default none: such calls are refused over TCP
   */
  readonly token?: string | (() => Promise<string>);
  /** Behind /metrics: a PrometheusMetrics, for one. @default /metrics is not there */
  readonly metrics?: { readonly contentType: string; render(): Promise<string> };
  /** @default 64 */
  readonly maxEventClients?: number;
  /** @default 256 */
  readonly maxConnections?: number;
  /** @default the machine's */
  readonly clock?: Clock;
}

export interface StatusServer {
  /** `http://127.0.0.1:8080` or `unix:/run/tenure.sock`. */
  readonly address: string;
  /** Ends every connection. */
  close(): Promise<void>;
}

const defaultEventClients = 64;
const defaultConnections = 256;
/** A probe's headers are some hundred bytes. */
const mostHeaderBytes = 8 * 1024;
const mostHeaders = 64;
/** How long a client may take to say what it wants. */
const requestWithinMs = 5_000;
/** How long a connection may be silent: longer than the heartbeat of an event stream. */
const silentMs = 30_000;
const keepAliveMs = 10_000;

export async function startStatusServer(options: StatusServerOptions): Promise<StatusServer> {
  const address = check(options);
  const { source, clock = systemClock, maxConnections = defaultConnections } = options;
  const board = new StatusBoard(source, clock);
  const events = new EventStream(board, clock);
  const router = new Router({ ...routerOptions(options), board, events, isPrivate: address.kind === "unix" });
  const server = newServer((request, response) => router.answer(request, response));
  server.maxConnections = maxConnections;
  const end = () => {
    events.close();
    board.close();
  };
  try {
    await listen(server, address);
  } catch (error) {
    end();
    throw error;
  }
  return {
    address: addressOf(server, address),
    async close() {
      end();
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeAllConnections();
      await closed;
    },
  };
}

function check(options: StatusServerOptions): ListenAddress {
  const { readyMode = "always", source, maxConnections, maxEventClients } = options;
  const address = parseListenAddress(options.listen);
  const problems: Problem[] = [...address.problems];
  if (!readyModes.includes(readyMode)) problems.push(oneOfProblem("readyMode", readyModes, readyMode));
  if (readyMode === "child-ready" && !source.child) {
    const rule = "child-ready needs a child process";
    problems.push({ field: "readyMode", rule, fix: "use leader, or run the work as a child process" });
  }
  for (const [name, value] of Object.entries({ maxConnections, maxEventClients })) {
    if (value !== undefined && !(Number.isInteger(value) && value > 0))
      problems.push(wholeNumberProblem(name, 1, value));
  }
  if (problems.length > 0 || !address.value) {
    const message = `Cannot start the status server: ${describeProblems(problems).join("; ")}.`;
    throw new StatusError("InvalidOptions", message, { problems });
  }
  return address.value;
}

function routerOptions({
  source,
  readyMode = "always",
  token,
  metrics,
  maxEventClients = defaultEventClients,
}: StatusServerOptions): Omit<RouterOptions, "board" | "events" | "isPrivate"> {
  return {
    source,
    readyMode,
    maxEventClients,
    ...(metrics && { metrics }),
    ...(token !== undefined && { token: typeof token === "string" ? async () => token : token }),
  };
}

function newServer(answer: (request: IncomingMessage, response: ServerResponse) => Promise<void>): Server {
  const server = createServer(
    {
      maxHeaderSize: mostHeaderBytes,
      headersTimeout: requestWithinMs,
      requestTimeout: requestWithinMs,
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
  server.timeout = silentMs;
  return server;
}
