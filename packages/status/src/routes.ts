/** The paths of the status server. */
import { createHash, timingSafeEqual } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { messageOf } from "@tenure/base";
import type { EventStream } from "./event-stream.ts";
import type { ReadyMode, StatusSource } from "./source.ts";
import type { StatusTracker } from "./status-tracker.ts";

export interface RouterOptions {
  readonly source: StatusSource;
  readonly tracker: StatusTracker;
  readonly events: EventStream;
  readonly readyMode: ReadyMode;
  /** Whether every client that can connect has all permissions: true for a unix socket. */
  readonly isPrivate: boolean;
  /** Whether this connection may become an event stream. If so, it counts as one from now on. */
  readonly mayStream: (connection: Socket) => boolean;
  readonly token?: () => Promise<string>;
  readonly metrics?: { readonly contentType: string; render(): Promise<string> };
}

interface Answer {
  readonly status: number;
  readonly type: string;
  readonly body: string;
  readonly headers?: Readonly<Record<string, string>>;
}

interface Route {
  readonly method: "GET" | "POST";
  /** Absent for the event stream, which does not end with one answer. */
  readonly handle?: Handler;
}

type Handler = (request: IncomingMessage) => Answer | Promise<Answer>;

export class Router {
  readonly #options: RouterOptions;
  readonly #routes: ReadonlyMap<string, Route>;

  constructor(options: RouterOptions) {
    this.#options = options;
    this.#routes = new Map<string, Route>([
      ["/", { method: "GET", handle: () => this.#state() }],
      ["/leader", { method: "GET", handle: () => this.#state() }],
      ["/events", { method: "GET" }],
      ["/healthz", { method: "GET", handle: () => this.#health() }],
      ["/readyz", { method: "GET", handle: () => this.#ready() }],
      ["/metrics", { method: "GET", handle: () => this.#metrics() }],
      ["/step-down", { method: "POST", handle: (request) => this.#stepDown(request) }],
    ]);
  }

  async answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const path = (request.url ?? "").split("?", 1)[0] ?? "";
    const method = request.method === "HEAD" ? "GET" : request.method;
    // Bodies are ignored, and the connection is closed so that the client cannot keep sending.
    if (request.headers["content-length"] || request.headers["transfer-encoding"]) {
      response.setHeader("connection", "close");
      request.resume();
    }
    const route = this.#routes.get(path);
    if (!route) {
      const known = [...this.#routes.keys()].join(", ");
      return send(request, response, text(404, `Not found: ${path.slice(0, 100)}. Known paths: ${known}.`));
    }
    if (method !== route.method) {
      const allow = route.method === "GET" ? "GET, HEAD" : route.method;
      const rejected = text(405, `${request.method} is not allowed on ${path}: use ${allow}.`);
      return send(request, response, { ...rejected, headers: { allow } });
    }
    if (route.handle) send(request, response, await route.handle(request));
    else this.#openEvents(request, response);
  }

  #state(): Answer {
    const body = `${JSON.stringify(this.#options.tracker.status())}\n`;
    return { status: 200, type: "application/json", body };
  }

  #health(): Answer {
    const { healthy, message } = this.#options.source.election.health();
    return text(healthy ? 200 : 503, healthy ? `ok: ${message}` : `unhealthy: ${message}`);
  }

  #ready(): Answer {
    const { readyMode, tracker, source } = this.#options;
    if (readyMode === "always") return text(200, "ready: every replica is ready");
    if (readyMode === "elected") {
      const leader = tracker.leader();
      return leader === null
        ? text(503, "not ready: this replica knows of no leader")
        : text(200, `ready: ${leader} leads`);
    }
    if (!tracker.isLeader()) return text(503, "not ready: this replica is not the leader");
    if (readyMode === "child-ready" && !source.child?.().ready)
      return text(503, "not ready: this replica is the leader, but its child is not ready");
    return text(200, "ready: this replica is the leader");
  }

  async #metrics(): Promise<Answer> {
    const { metrics } = this.#options;
    if (!metrics) return text(404, "There are no metrics: the status server was started without them.");
    return { status: 200, type: metrics.contentType, body: await metrics.render() };
  }

  #openEvents(request: IncomingMessage, response: ServerResponse): void {
    const { events, mayStream } = this.#options;
    if (!mayStream(request.socket)) {
      const rejected = text(503, "Too many event streams, in all or from this address. Use /leader instead.");
      send(request, response, { ...rejected, headers: { "retry-after": "5" } });
      return;
    }
    if (request.method === "HEAD") {
      send(request, response, { status: 200, type: "text/event-stream", body: "" });
      return;
    }
    response.writeHead(200, {
      "content-type": "text/event-stream",
      "cache-control": "no-store",
      "x-accel-buffering": "no",
    });
    events.add(response);
  }

  async #stepDown(request: IncomingMessage): Promise<Answer> {
    const { source, tracker } = this.#options;
    const rejection = await this.#authorize(request);
    if (rejection) return rejection;
    if (!source.stepDown) return text(501, "This status server does not support step-down.");
    if (!tracker.isLeader()) return text(409, "This replica is not the leader, so it cannot step down.");
    source.stepDown();
    return text(202, "Stepping down: the replica stops its work, then releases the lease.");
  }

  /** The error to respond with, or undefined if the client may change something. */
  async #authorize(request: IncomingMessage): Promise<Answer | undefined> {
    const { isPrivate, token } = this.#options;
    if (isPrivate) return undefined;
    if (!token) {
      return text(
        403,
        "Forbidden: over TCP this request needs a token. Start the status server with --status-token-file, or with --status unix:PATH.",
      );
    }
    let expected: string;
    try {
      expected = (await token()).trim();
    } catch (error) {
      return text(500, `Cannot read the expected token: ${messageOf(error)}.`);
    }
    const [, given = ""] = /^Bearer +(\S+) *$/i.exec(request.headers.authorization ?? "") ?? [];
    if (expected !== "" && isSame(given, expected)) return undefined;
    const rejected = text(401, "Unauthorized: send the token in the header Authorization: Bearer TOKEN.");
    return { ...rejected, headers: { "www-authenticate": "Bearer" } };
  }
}

/** Takes the same time wherever the two differ. */
function isSame(given: string, expected: string): boolean {
  const digest = (value: string) => createHash("sha256").update(value).digest();
  return timingSafeEqual(digest(given), digest(expected));
}

function text(status: number, sentence: string): Answer {
  return { status, type: "text/plain; charset=utf-8", body: `${sentence}\n` };
}

function send(request: IncomingMessage, response: ServerResponse, answer: Answer): void {
  const { status, type, body, headers = {} } = answer;
  response.writeHead(status, {
    ...headers,
    "content-type": type,
    "content-length": Buffer.byteLength(body),
    "cache-control": "no-store",
    "x-content-type-options": "nosniff",
  });
  response.end(request.method === "HEAD" ? undefined : body);
}
