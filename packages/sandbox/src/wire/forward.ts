/** Forwards a request to a node agent: a plain request, one for a port of a pod, or a WebSocket or SPDY that is passed through byte by byte. */
import {
  request as httpRequest,
  type IncomingHttpHeaders,
  type IncomingMessage,
  type ServerResponse,
} from "node:http";
import { connect } from "node:net";
import type { Duplex } from "node:stream";
import { ApiError } from "../objects/status.ts";
import type { AgentTarget } from "../registry/context.ts";

/** Resolves when the response has been sent. Rejects if the agent does not answer, or with its error. */
export function forwardRequest(target: AgentTarget, response: ServerResponse): Promise<void> {
  const { host, port, path, token } = target;
  return new Promise((resolve, reject) => {
    const headers = { Authorization: `Bearer ${token}` };
    const request = httpRequest({ host, port, path, headers, agent: false });
    request.once("error", (error) => reject(unreachable(target, error)));
    request.once("response", (answer) => {
      const code = answer.statusCode ?? 500;
      if (code >= 400) {
        readText(answer).then((text) => reject(agentError(code, text)), reject);
        return;
      }
      response.writeHead(code, { "Content-Type": answer.headers["content-type"] ?? "text/plain" });
      response.flushHeaders();
      answer.pipe(response);
      answer.once("error", () => response.destroy());
      response.once("close", resolve);
    });
    response.once("close", () => request.destroy());
    request.end();
  });
}

/** Passes a request on with its method, headers and body, and the answer with its code and headers. */
export function forwardProxied(
  target: AgentTarget,
  incoming: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const { host, port, path, token } = target;
  return new Promise((resolve, reject) => {
    // The pod does not get the credentials of the client.
    const headers = { ...incoming.headers, authorization: `Bearer ${token}`, connection: "close" };
    const request = httpRequest({ host, port, path, method: incoming.method, headers, agent: false });
    request.once("error", (error) => reject(unreachable(target, error)));
    request.once("response", (answer) => {
      response.writeHead(answer.statusCode ?? 502, endToEnd(answer.headers));
      answer.pipe(response);
      answer.once("error", () => response.destroy());
    });
    response.once("close", () => {
      request.destroy();
      resolve();
    });
    incoming.pipe(request);
  });
}

/** Headers that concern one connection only. */
const hopByHop = ["connection", "keep-alive", "transfer-encoding", "upgrade", "trailer", "te"];

const endToEnd = (headers: IncomingHttpHeaders): IncomingHttpHeaders =>
  Object.fromEntries(Object.entries(headers).filter(([name]) => !hopByHop.includes(name)));

/** Headers of an upgrade that the agent needs. */
const upgradeHeaders = [
  "upgrade",
  "sec-websocket-key",
  "sec-websocket-version",
  "sec-websocket-protocol",
  "x-stream-protocol-version",
];

/** Connects the client with the agent. From then on both talk to each other. */
export function forwardUpgrade(
  target: AgentTarget,
  incoming: IncomingMessage,
  socket: Duplex,
  head: Buffer,
): void {
  const { host, port, path, token } = target;
  const agent = connect({ host, port });
  const headers = upgradeHeaders.flatMap((name) => {
    const value = incoming.headers[name];
    return value === undefined ? [] : [`${name}: ${value}`];
  });
  agent.once("connect", () => {
    const lines = [`GET ${path} HTTP/1.1`, `Host: ${host}`, "Connection: Upgrade", ...headers];
    agent.write(`${lines.join("\r\n")}\r\nAuthorization: Bearer ${token}\r\n\r\n`);
    agent.write(head);
    agent.pipe(socket);
    socket.pipe(agent);
  });
  agent.once("error", (error) => {
    if (agent.connecting) rejectUpgrade(socket, unreachable(target, error));
    else socket.destroy();
  });
  agent.once("close", () => {
    // If the agent ended the connection, its last bytes may still be on their way to a slow client.
    if (!socket.writableEnded) socket.destroy();
  });
  socket.once("error", () => agent.destroy());
  socket.once("close", () => agent.destroy());
}

/** Answers an upgrade with an error. */
export function rejectUpgrade(socket: Duplex, { status }: ApiError): void {
  const body = `${JSON.stringify(status)}\n`;
  const head = [
    `HTTP/1.1 ${status.code ?? 500} ${status.reason ?? "Error"}`,
    "Content-Type: application/json",
    `Content-Length: ${Buffer.byteLength(body)}`,
    "Connection: close",
  ];
  socket.end(`${head.join("\r\n")}\r\n\r\n${body}`);
}

async function readText(answer: IncomingMessage): Promise<string> {
  const pieces: Buffer[] = [];
  for await (const piece of answer) pieces.push(piece as Buffer);
  return Buffer.concat(pieces).toString("utf8");
}

function agentError(code: number, text: string): ApiError {
  const reason = code === 404 ? "NotFound" : code === 400 ? "BadRequest" : "InternalError";
  return new ApiError(code === 401 ? 500 : code, reason, text);
}

function unreachable({ host, port }: AgentTarget, error: Error): ApiError {
  const message = `Internal error occurred: the node agent at ${host}:${port} does not answer: ${error.message}`;
  return new ApiError(500, "InternalError", message);
}
