/** What each path of the status server answers. */
import { createHash, timingSafeEqual } from "node:crypto";
import type { IncomingMessage, ServerResponse } from "node:http";
import { messageOf } from "@tenure/base";
import type { StatusBoard } from "./board.ts";
import type { EventStream } from "./event-stream.ts";
import type { ReadyMode, StatusSource } from "./source.ts";

export interface RouterOptions {
  readonly source: StatusSource;
  readonly board: StatusBoard;
  readonly events: EventStream;
  readonly readyMode: ReadyMode;
  /** Whether only those connect who may do everything: a unix socket. */
  readonly isPrivate: boolean;
  readonly maxEventClients: number;
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
  /** Without it: a stream, which is opened elsewhere. */
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
    // What is sent along is of no interest, and a connection that goes on sending is not kept.
    if (request.headers["content-length"] || request.headers["transfer-encoding"]) {
      response.setHeader("connection", "close");
      request.resume();
    }
    const route = this.#routes.get(path);
    if (!route) {
      const known = [...this.#routes.keys()].join(", ");
      return send(request, response, text(404, `There is nothing at ${path.slice(0, 100)}: try ${known}.`));
    }
    if (method !== route.method) {
      const allow = route.method === "GET" ? "GET, HEAD" : route.method;
      const refused = text(405, `Cannot ${request.method} ${path}: only ${allow}.`);
      return send(request, response, { ...refused, headers: { allow } });
    }
    if (route.handle) send(request, response, await route.handle(request));
    else this.#openEvents(request, response);
  }

  #state(): Answer {
    const body = `${JSON.stringify(this.#options.board.status())}\n`;
    return { status: 200, type: "application/json", body };
  }

  #health(): Answer {
    const { healthy, message } = this.#options.source.election.health();
    return text(healthy ? 200 : 503, healthy ? `ok: ${message}` : `unhealthy: ${message}`);
  }

  #ready(): Answer {
    const { readyMode, board, source } = this.#options;
    if (readyMode === "always") return text(200, "ready: standbys are ready too");
    if (!board.isLeader()) return text(503, "not ready: this replica does not lead");
    if (readyMode === "child-ready" && !source.child?.().ready)
      return text(503, "not ready: this replica leads, and its child is not ready");
    return text(200, "ready: this replica leads");
  }

  async #metrics(): Promise<Answer> {
    const { metrics } = this.#options;
    if (!metrics) return text(404, "There are no metrics: they were not asked for at the start.");
    return { status: 200, type: metrics.contentType, body: await metrics.render() };
  }

  #openEvents(request: IncomingMessage, response: ServerResponse): void {
    const { events, maxEventClients } = this.#options;
    if (events.clients >= maxEventClients) {
      const refused = text(503, `Too many listen already: ${maxEventClients}. Ask /leader instead.`);
      send(request, response, { ...refused, headers: { "retry-after": "5" } });
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
    const { source, board } = this.#options;
    const refusal = await this.#refusal(request);
    if (refusal) return refusal;
    if (!source.stepDown) return text(501, "This replica cannot be told to step down here.");
    if (!board.isLeader()) return text(409, "This replica does not lead, so that it cannot step down.");
    source.stepDown();
    return text(202, "Stepping down: the work is stopped, then the lease is released.");
  }

  async #refusal(request: IncomingMessage): Promise<Answer | undefined> {
    const { isPrivate, token } = this.#options;
    if (isPrivate) return undefined;
    if (!token) {
      return text(
        403,
        "Refused: what changes something needs a token, or a status server on a unix socket. Start it with --status-token-file, or with --status unix:PATH.",
      );
    }
    let expected: string;
    try {
      expected = (await token()).trim();
    } catch (error) {
      return text(500, `Cannot read the token to compare with: ${messageOf(error)}.`);
    }
    const [, given = ""] = /^Bearer +(\S+) *$/i.exec(request.headers.authorization ?? "") ?? [];
    if (expected !== "" && isSame(given, expected)) return undefined;
    const refused = text(401, "Refused: send the token as Authorization: Bearer TOKEN.");
    return { ...refused, headers: { "www-authenticate": "Bearer" } };
  }
}

/** In the same time whatever is wrong with it. */
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
