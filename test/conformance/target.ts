// The API server under test: the one in the kubeconfig TENURE_CONFORMANCE_KUBECONFIG, or a sandbox in this process.
// Tests use plain HTTP requests, so that no client library hides a difference between the two.

import { readFileSync } from "node:fs";
import { type ClientRequest, request as httpRequest, type IncomingMessage } from "node:http";
import { Agent, request as httpsRequest } from "node:https";
import { startSandbox } from "@tenure/sandbox";
import { load } from "js-yaml";

// biome-ignore lint/suspicious/noExplicitAny: bodies are JSON of any shape, and each test checks what it expects
export type Body = any;

export interface Response {
  status: number;
  headers: Record<string, string | string[] | undefined>;
  body: Body;
  /** The body as it was sent. */
  text: string;
}

export interface RequestOptions {
  /** Replaces the token of the administrator. "" sends none. */
  token?: string;
  /** The user to impersonate, as with `kubectl --as`. */
  as?: string;
  groups?: string[];
  contentType?: string;
  accept?: string;
  userAgent?: string;
}

interface WatchEvent {
  type: string;
  object: Body;
}

export interface Watch {
  /** The next event. Fails if there is none within the deadline, or if the server ends the watch. */
  next(): Promise<WatchEvent>;
  /** Resolves when the server ends the watch. */
  ended: Promise<void>;
  close(): void;
}

/** Long enough for a loaded machine. A test that passes never waits for it. */
const DEADLINE_MS = 15_000;

export class Target {
  readonly #server: URL;
  readonly #token: string;
  readonly #agent: Agent | undefined;
  readonly #stop: () => Promise<void>;
  readonly isSandbox: boolean;
  #namespaces = 0;
  readonly #run = Math.random().toString(36).slice(2, 8);

  constructor(kubeconfig: string, isSandbox: boolean, stop: () => Promise<void>) {
    const config = load(kubeconfig) as Body;
    const { server, "certificate-authority-data": ca } = config.clusters[0].cluster;
    this.#server = new URL(server);
    this.#token = config.users[0].user.token;
    this.#agent = ca ? new Agent({ keepAlive: true, ca: Buffer.from(ca, "base64") }) : undefined;
    this.#stop = stop;
    this.isSandbox = isSandbox;
  }

  /** The minor version, for example 36 of 1.36. Tests of newer features are skipped on older servers. */
  async minor(): Promise<number> {
    const { body } = await this.request("GET", "/version");
    return Number.parseInt(body.minor, 10);
  }

  /** Creates a namespace for one test. */
  async namespace(): Promise<string> {
    const name = `conformance-${this.#run}-${++this.#namespaces}`;
    const { status } = await this.request("POST", "/api/v1/namespaces", { metadata: { name } });
    if (status !== 201) throw new Error(`cannot create namespace ${name}: ${status}`);
    return name;
  }

  async request(method: string, path: string, body?: Body, options: RequestOptions = {}): Promise<Response> {
    const text =
      body === undefined
        ? undefined
        : typeof body === "string" || Buffer.isBuffer(body)
          ? body
          : JSON.stringify(body);
    const response = await this.#send(method, path, text, options);
    const chunks: Buffer[] = [];
    for await (const chunk of response) chunks.push(chunk as Buffer);
    const answer = Buffer.concat(chunks).toString();
    let parsed: Body = answer;
    if (response.headers["content-type"]?.includes("json")) parsed = JSON.parse(answer);
    return { status: response.statusCode ?? 0, headers: response.headers, body: parsed, text: answer };
  }

  async watch(path: string, options: RequestOptions = {}): Promise<Watch> {
    const response = await this.#send("GET", path, undefined, options);
    return readWatch(response);
  }

  async close(): Promise<void> {
    this.#agent?.destroy();
    await this.#stop();
  }

  #send(
    method: string,
    path: string,
    text: string | Buffer | undefined,
    options: RequestOptions,
  ): Promise<IncomingMessage> {
    const token = options.token ?? this.#token;
    const headers: Record<string, string | string[]> = {
      ...(token ? { Authorization: `Bearer ${token}` } : {}),
      ...(options.as ? { "Impersonate-User": options.as } : {}),
      ...(options.groups ? { "Impersonate-Group": options.groups } : {}),
      ...(options.accept ? { Accept: options.accept } : {}),
      ...(options.userAgent ? { "User-Agent": options.userAgent } : {}),
      ...(text === undefined
        ? {}
        : {
            "Content-Type": options.contentType ?? "application/json",
            "Content-Length": String(Buffer.byteLength(text)),
          }),
    };
    const { hostname, port } = this.#server;
    return new Promise((resolve, reject) => {
      const where = { hostname, port, method, path, headers };
      const sent: ClientRequest = this.#agent
        ? httpsRequest({ ...where, agent: this.#agent }, resolve)
        : httpRequest(where, resolve);
      sent.setTimeout(DEADLINE_MS, () =>
        sent.destroy(new Error(`${method} ${path}: no response within ${DEADLINE_MS} ms`)),
      );
      sent.on("error", reject);
      sent.end(text);
    });
  }
}

function readWatch(response: IncomingMessage): Watch {
  const events: WatchEvent[] = [];
  let waiting: (() => void) | undefined;
  let done = false;
  let rest = "";
  response.setEncoding("utf8");
  response.on("data", (chunk: string) => {
    const lines = (rest + chunk).split("\n");
    rest = lines.pop() as string;
    for (const line of lines) if (line) events.push(JSON.parse(line));
    waiting?.();
  });
  const ended = new Promise<void>((resolve) => {
    const finish = () => {
      done = true;
      waiting?.();
      resolve();
    };
    response.on("end", finish);
    response.on("error", finish);
    response.on("close", finish);
  });
  return {
    ended,
    close: () => response.destroy(),
    async next() {
      const timer = setTimeout(() => {
        done = true;
        waiting?.();
      }, DEADLINE_MS);
      while (events.length === 0 && !done) {
        await new Promise<void>((resolve) => {
          waiting = resolve;
        });
      }
      clearTimeout(timer);
      const event = events.shift();
      if (!event) throw new Error("the watch ended, or no event arrived in time");
      return event;
    },
  };
}

export async function connect(): Promise<Target> {
  const path = process.env.TENURE_CONFORMANCE_KUBECONFIG;
  if (path) return new Target(readFileSync(path, "utf8"), false, async () => {});
  const sandbox = await startSandbox();
  return new Target(sandbox.kubeconfig, true, () => sandbox.close());
}

export const leasesIn = (namespace: string) => `/apis/coordination.k8s.io/v1/namespaces/${namespace}/leases`;
export const configMapsIn = (namespace: string) => `/api/v1/namespaces/${namespace}/configmaps`;

export function lease(name: string, spec: Body = {}, metadata: Body = {}): Body {
  return { apiVersion: "coordination.k8s.io/v1", kind: "Lease", metadata: { name, ...metadata }, spec };
}

export function configMap(name: string, data: Body = {}, metadata: Body = {}): Body {
  return { apiVersion: "v1", kind: "ConfigMap", metadata: { name, ...metadata }, data };
}

export const JSON_PATCH = { contentType: "application/json-patch+json" };
export const MERGE_PATCH = { contentType: "application/merge-patch+json" };
export const STRATEGIC_PATCH = { contentType: "application/strategic-merge-patch+json" };
export const APPLY_PATCH = { contentType: "application/apply-patch+yaml" };
