/** A small HTTP client for the tests of this package. */
import { type ClientRequest, request as httpRequest, type IncomingMessage } from "node:http";
import { request as httpsRequest } from "node:https";
import type { Sandbox } from "../sandbox.ts";

// biome-ignore lint/suspicious/noExplicitAny: bodies are JSON of any shape, and each test checks what it expects
export type Body = any;

export interface Reply {
  status: number;
  headers: IncomingMessage["headers"];
  body: Body;
}

interface SendOptions {
  token?: string;
  headers?: Record<string, string>;
  key?: string;
  cert?: string;
}

export function open(
  sandbox: Sandbox,
  method: string,
  path: string,
  options: SendOptions = {},
): ClientRequest {
  const { hostname, port, protocol } = new URL(sandbox.url);
  const token = options.token ?? sandbox.adminToken;
  const headers = { ...(token ? { Authorization: `Bearer ${token}` } : {}), ...options.headers };
  const { key, cert } = options;
  const common = {
    hostname,
    port,
    method,
    path,
    headers,
    agent: false as const,
    ...(key ? { key, cert } : {}),
  };
  return protocol === "https:" ? httpsRequest({ ...common, ca: sandbox.caPem }) : httpRequest(common);
}

export function send(
  sandbox: Sandbox,
  method: string,
  path: string,
  body?: Body,
  options: SendOptions = {},
): Promise<Reply> {
  const raw = typeof body === "string" || Buffer.isBuffer(body);
  const text = body === undefined || raw ? body : JSON.stringify(body);
  const headers = {
    ...(text === undefined
      ? {}
      : { "Content-Type": "application/json", "Content-Length": String(Buffer.byteLength(text)) }),
    ...options.headers,
  };
  return new Promise((resolve, reject) => {
    const request = open(sandbox, method, path, { ...options, headers });
    request.on("error", reject);
    request.on("response", async (response) => {
      const chunks: Buffer[] = [];
      try {
        for await (const chunk of response) chunks.push(chunk as Buffer);
      } catch (error) {
        reject(error);
        return;
      }
      const answer = Buffer.concat(chunks).toString();
      const json = response.headers["content-type"]?.startsWith("application/json");
      resolve({
        status: response.statusCode ?? 0,
        headers: response.headers,
        body: json ? JSON.parse(answer) : answer,
      });
    });
    request.end(text);
  });
}

/** Opens a watch. `events` collects its events; `next` waits for one. */
export async function watch(sandbox: Sandbox, path: string) {
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    const request = open(sandbox, "GET", path);
    request.on("error", reject);
    request.on("response", resolve);
    request.end();
  });
  const events: Body[] = [];
  let wake = () => {};
  let rest = "";
  let closed = false;
  response.setEncoding("utf8");
  response.on("data", (chunk: string) => {
    const lines = (rest + chunk).split("\n");
    rest = lines.pop() as string;
    for (const line of lines) if (line) events.push(JSON.parse(line));
    wake();
  });
  const ended = new Promise<void>((resolve) => {
    const end = () => {
      closed = true;
      wake();
      resolve();
    };
    response.on("error", end);
    response.on("close", end);
  });
  return {
    events,
    ended,
    close: () => response.destroy(),
    async next(): Promise<Body> {
      while (events.length === 0 && !closed) {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
      if (events.length === 0) throw new Error("the watch ended");
      return events.shift();
    },
  };
}

export const leasesPath = "/apis/coordination.k8s.io/v1/namespaces/default/leases";
export const configMapsPath = "/api/v1/namespaces/default/configmaps";
export const lease = (name: string, spec: Body = {}, metadata: Body = {}) => ({
  metadata: { name, ...metadata },
  spec,
});
