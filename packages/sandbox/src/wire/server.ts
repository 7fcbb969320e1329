/**
 * The HTTP server: reads requests, passes them on, applies faults and writes responses. It speaks HTTP/1.1, with or
 * without TLS. After `close`, `listen` starts it again on the same port.
 */

import {
  createServer,
  type Server as HttpServer,
  type IncomingMessage,
  type ServerResponse,
} from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo, Socket } from "node:net";
import type { Duplex } from "node:stream";
import { TLSSocket } from "node:tls";
import { sleep } from "@tenure/base";
import type { KeyAndCertificate } from "../access/certificate.ts";
import { type AdminActions, adminPath } from "../control/admin.ts";
import type { RunningCluster } from "../control/cluster.ts";
import type { FaultTarget } from "../control/fault.ts";
import { noFaults } from "../control/fault-injector.ts";
import { SandboxError } from "../errors.ts";
import { ApiError, badRequest } from "../objects/status.ts";
import type { ApiRequest, Context } from "../registry/context.ts";
import { authorizeRequest } from "./authorize-request.ts";
import { forwardProxied, forwardRequest, forwardUpgrade, rejectUpgrade } from "./forward.ts";
import { readLimited } from "./read-limited.ts";
import { faultStatus, sendError, sendResponse } from "./respond.ts";
import { route } from "./route.ts";
import { openStream } from "./stream.ts";

/** Longer than clients keep an idle connection (client-go: 90 s), so the server never closes a connection in use. */
const keepAliveMs = 120_000;

interface ListenOptions {
  host: string;
  port: number;
  tls: { server: KeyAndCertificate; authorityPem: string } | undefined;
  /** The names of the server, if it allows everything without credentials. */
  openNames: Set<string> | undefined;
}

export class ApiServer {
  readonly #cluster: RunningCluster;
  readonly #actions: AdminActions;
  readonly #options: ListenOptions;
  #http: HttpServer | undefined;
  /** The HTTP server waits for all of these when it closes, but knows neither upgraded ones nor those without a finished TLS handshake. */
  readonly #sockets = new Set<Socket>();

  constructor(cluster: RunningCluster, actions: AdminActions, options: ListenOptions) {
    this.#cluster = cluster;
    this.#actions = actions;
    this.#options = { ...options };
  }

  get port(): number {
    return this.#options.port;
  }

  async listen(): Promise<void> {
    const { host, port, tls } = this.#options;
    // An unexpected error closes the connection. It never ends the process.
    const handle = (request: IncomingMessage, response: ServerResponse) =>
      void this.#handle(request, response).catch(() => response.destroy());
    const http = tls
      ? createTlsServer(
          {
            key: tls.server.keyPem,
            cert: tls.server.certificatePem,
            ca: tls.authorityPem,
            requestCert: true,
            rejectUnauthorized: false,
          },
          handle,
        )
      : createServer(handle);
    http.keepAliveTimeout = keepAliveMs;
    http.on("connection", (socket: Socket) => {
      this.#sockets.add(socket);
      socket.once("close", () => this.#sockets.delete(socket));
    });
    http.on("upgrade", (request, socket, head) => void this.#upgrade(request, socket, head));
    await new Promise<void>((resolve, reject) => {
      http.once("error", (error: NodeJS.ErrnoException) => reject(listenError(error, host, port)));
      http.listen(port, host, resolve);
    });
    this.#options.port = (http.address() as AddressInfo).port;
    this.#http = http;
  }

  /** Closes all connections and frees the port. */
  async close(): Promise<void> {
    const http = this.#http;
    if (!http) return;
    this.#http = undefined;
    const closed = new Promise<void>((resolve) => http.close(() => resolve()));
    for (const socket of this.#sockets) socket.destroy();
    await closed;
  }

  async #handle(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    let context: Context | undefined;
    try {
      const request = toRequest(incoming);
      const { openNames } = this.#options;
      context = authorizeRequest(this.#cluster, request, credentialsOf(incoming), openNames);
      const target = targetOf(context);
      const { faults } = this.#actions;
      // Faults do not affect the admin paths, so an administrator can always remove them.
      const { latencyMs, outcome, loseAnswer } = request.path.startsWith(adminPath)
        ? noFaults
        : faults.effectsOn(target);
      if (latencyMs > 0) await sleep(this.#cluster.platform.clock, latencyMs);
      if (outcome === "hang") return;
      if (outcome === "drop") return void response.destroy();
      if (outcome) throw faultStatus(outcome);
      const result = await route(this.#actions, context).catch((error: unknown) => error as Error);
      if (loseAnswer) return void response.destroy();
      if (result instanceof Error) throw result;
      if (result.type === "forward") {
        if (result.target.kind === "upgrade") throw badRequest("Upgrade request required");
        if (result.target.kind === "proxy") await forwardProxied(result.target, incoming, response);
        else await forwardRequest(result.target, response);
      } else if (result.type === "stream") openStream(faults, target, response, result.start);
      else await sendResponse(response, result, context);
    } catch (error) {
      sendError(response, toApiError(error), context);
    }
  }

  /** A client wants a stream in both directions: a program in a container, or a connection to a port. */
  async #upgrade(incoming: IncomingMessage, socket: Duplex, head: Buffer): Promise<void> {
    socket.on("error", () => {});
    try {
      const { openNames } = this.#options;
      const request = toRequest(incoming);
      const context = authorizeRequest(this.#cluster, request, credentialsOf(incoming), openNames);
      const result = await route(this.#actions, context);
      if (result.type !== "forward" || result.target.kind !== "upgrade")
        throw badRequest("this path does not support upgrades");
      const protocol = incoming.headers.upgrade ?? "";
      if (!["websocket", "spdy/3.1"].includes(protocol.toLowerCase()))
        throw badRequest(`the protocol ${protocol} is not supported: use WebSocket or SPDY/3.1`);
      forwardUpgrade(result.target, incoming, socket, head);
    } catch (error) {
      rejectUpgrade(socket, toApiError(error));
    }
  }
}

function toApiError(error: unknown): ApiError {
  return error instanceof ApiError ? error : internalError(error);
}

function toRequest(incoming: IncomingMessage): ApiRequest {
  const [path = "", search = ""] = splitOnce(incoming.url ?? "/", "?");
  let body: Promise<Buffer> | undefined;
  return {
    method: incoming.method ?? "GET",
    path: decodePath(path),
    query: new URLSearchParams(search),
    url: incoming.url ?? "/",
    headers: incoming.headers,
    body() {
      body ??= readLimited(incoming);
      return body;
    },
  };
}

function splitOnce(text: string, separator: string): [string, string] {
  const index = text.indexOf(separator);
  return index < 0 ? [text, ""] : [text.slice(0, index), text.slice(index + 1)];
}

function decodePath(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    throw new ApiError(400, "BadRequest", "400 Bad Request");
  }
}

function credentialsOf(incoming: IncomingMessage) {
  const { socket } = incoming;
  const certificate =
    socket instanceof TLSSocket && socket.authorized ? socket.getPeerCertificate().raw : undefined;
  return { authorization: incoming.headers.authorization, certificate };
}

function targetOf({ info, user, request }: Context): FaultTarget {
  const resource = info.subresource ? `${info.resource}/${info.subresource}` : info.resource;
  const { verb, namespace, name } = info;
  return { verb, resource, namespace, name, user: user.name, userAgent: request.headers["user-agent"] ?? "" };
}

function internalError(error: unknown): ApiError {
  const text = error instanceof Error ? error.message : String(error);
  return new ApiError(500, "InternalError", `Internal error occurred: ${text}`, {
    causes: [{ reason: "", message: text }],
  });
}

function listenError(error: NodeJS.ErrnoException, host: string, port: number): SandboxError {
  const where = `${host}:${port}`;
  if (error.code === "EADDRINUSE") {
    const message = `Cannot listen on ${where} as the port is in use: stop the process that uses it, or choose another port (0 picks a free one)`;
    return new SandboxError("CANNOT_LISTEN", message, { cause: error });
  }
  if (error.code === "EADDRNOTAVAIL" || error.code === "ENOTFOUND") {
    const message = `Cannot listen on ${where} as ${host} is not an address of this machine: use 127.0.0.1 or 0.0.0.0`;
    return new SandboxError("CANNOT_LISTEN", message, { cause: error });
  }
  return new SandboxError("CANNOT_LISTEN", `Cannot listen on ${where}: ${error.message}`, { cause: error });
}
