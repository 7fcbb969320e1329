/**
 * Serves the page of `tenure ui`. It gives a page the right to act only through `UiActions`, which run with the rights of the person
 * who started it. Not promised: protection from other programs of the same user, which could as well run the command.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { type Clock, messageOf } from "@tenure/base";
import { UiError } from "../errors.ts";
import { secret } from "../platform.ts";
import { type Assets, loadAssets } from "./assets.ts";
import { Guard, type Refusal } from "./guard.ts";
import type { LiveFeed } from "./live-feed.ts";
import { readJson } from "./read-json.ts";

export interface OrderGiven {
  readonly order: "step-down" | "transfer" | "pause" | "resume";
  /** `namespace/name`. */
  readonly election: string;
  readonly to?: string;
  readonly reason?: string;
}

export interface ElectionRights {
  /** Whether this user may give orders in this election. */
  readonly allowed: boolean;
  /** Why not. */
  readonly why?: string;
}

/** A finding of `tenure doctor`. */
export interface Finding {
  readonly check: string;
  readonly verdict: string;
  readonly what: string;
  readonly fix?: string;
}

/** What a page may ask for beside the timeline. Runs with the rights of the user. */
export interface UiActions {
  rights(election: string): Promise<ElectionRights>;
  perform(order: OrderGiven): Promise<{ readonly ok: boolean; readonly message: string }>;
  findings(election: string): Promise<readonly Finding[]>;
  /** What runs in the cluster, and what can be broken: only a sandbox can be. */
  cluster(): Promise<ClusterView>;
  /** @param what the id of a fault; @param target the object that it concerns, if the fault needs one */
  breakSomething(
    what: string,
    target: string | undefined,
  ): Promise<{ readonly ok: boolean; readonly message: string }>;
}

/** The objects of a cluster as tables, and the faults that can be injected. */
export interface ClusterView {
  readonly tables: readonly {
    readonly title: string;
    readonly columns: readonly string[];
    readonly rows: readonly (readonly string[])[];
  }[];
  readonly faults: readonly {
    readonly id: string;
    readonly label: string;
    /** What will happen. */
    readonly text: string;
    /** The objects to choose from, if the fault needs one. */
    readonly targets?: readonly string[];
  }[];
  /** Faults that are in force. */
  readonly active: readonly string[];
}

export interface UiServerOptions {
  readonly host: string;
  /** 0 picks a free one. */
  readonly port: number;
  /** Names of this server beside localhost and addresses. */
  readonly hostNames?: readonly string[];
  /** Whether everybody who reaches this server may look, without a token. Only together with no actions. */
  readonly isPublic?: boolean;
  readonly feed: LiveFeed;
  /** What the page says that it shows: "all namespaces of https://…". */
  readonly scope: string;
  /** For a recording: the page shows no present time. */
  readonly isRecording: boolean;
  /** Absent for a page that can only look. */
  readonly actions?: UiActions;
  readonly clock: Clock;
}

export interface UiServer {
  /** With the one-time token. */
  readonly url: string;
  close(): Promise<void>;
}

const pagePolicy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

const commonHeaders = {
  "cache-control": "no-store",
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
  "referrer-policy": "no-referrer",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "content-security-policy": pagePolicy,
} as const;

export async function startUiServer(options: UiServerOptions): Promise<UiServer> {
  const assets = await loadAssets();
  const oneTimeToken = options.isPublic ? undefined : secret();
  const guard = new Guard({ hostNames: options.hostNames ?? [], oneTimeToken, secret });
  const server = createServer({ requestTimeout: 10_000, headersTimeout: 5_000, maxHeaderSize: 16 * 1024 });
  server.on("request", (request: IncomingMessage, response: ServerResponse) => {
    answer(request, response, { assets, guard, options }).catch((error: unknown) => {
      if (!response.headersSent) send(response, 500, { message: messageOf(error) });
      else response.destroy();
    });
  });
  await listen(server, options);
  const { port } = server.address() as AddressInfo;
  const host = options.host.includes(":") ? `[${options.host}]` : options.host;
  return {
    url: `http://${host}:${port}/${oneTimeToken === undefined ? "" : `#token=${oneTimeToken}`}`,
    async close() {
      options.feed.close();
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      server.closeAllConnections();
      await closed;
    },
  };
}

interface Site {
  readonly assets: Assets;
  readonly guard: Guard;
  readonly options: UiServerOptions;
}

async function answer(request: IncomingMessage, response: ServerResponse, site: Site): Promise<void> {
  const { guard, options, assets } = site;
  const { pathname, searchParams } = new URL(request.url ?? "/", "http://page");
  const refusal = guard.checkOrigin(request.headers);
  // A link from another page may open the page: it holds no secret, and a browser sends nothing for it.
  const isNavigation =
    request.method === "GET" && pathname === "/" && request.headers["sec-fetch-mode"] === "navigate";
  if (
    refusal &&
    !(
      isNavigation &&
      request.headers.origin === undefined &&
      guard.checkOrigin({ host: request.headers.host }) === undefined
    )
  )
    return refuse(response, refusal);
  const route = `${request.method === "HEAD" ? "GET" : request.method} ${pathname}`;
  switch (route) {
    case "GET /":
      return sendText(response, "text/html", assets.html);
    case "GET /page.css":
      return sendText(response, "text/css", assets.css);
    case "GET /page.js":
      return sendText(response, "text/javascript", assets.script);
    case "GET /healthz":
      return sendText(response, "text/plain", "ok\n");
    case "POST /session": {
      const { token } = await readJson(request);
      const opened = guard.open(token);
      return "session" in opened ? send(response, 200, opened) : refuse(response, opened);
    }
  }
  const noSession = guard.checkSession(request.headers);
  if (noSession) return refuse(response, noSession);
  const election = searchParams.get("election") ?? "";
  const { actions } = options;
  switch (route) {
    case "GET /events":
      return openEvents(response, options);
    case "GET /rights":
      return send(
        response,
        200,
        actions ? await actions.rights(election) : { allowed: false, why: lookOnly },
      );
    case "GET /findings":
      return send(response, 200, actions ? await actions.findings(election) : []);
    case "GET /cluster":
      return send(response, 200, actions ? await actions.cluster() : { tables: [], faults: [], active: [] });
    case "POST /faults": {
      if (!actions) return refuse(response, { status: 403, message: lookOnly });
      const { what, target } = await readJson(request);
      if (typeof what !== "string") return refuse(response, { status: 400, message: "This is not a fault." });
      return send(
        response,
        200,
        await actions.breakSomething(what, typeof target === "string" ? target : undefined),
      );
    }
    case "POST /orders": {
      if (!actions) return refuse(response, { status: 403, message: lookOnly });
      const order = orderIn(await readJson(request));
      if (!order) return refuse(response, { status: 400, message: "This is not an order." });
      return send(response, 200, await actions.perform(order));
    }
  }
  return refuse(response, { status: 404, message: "There is no such page." });
}

const lookOnly = "This page can only look: it was started with --read-only or shows a recording.";

function openEvents(response: ServerResponse, { feed, scope, isRecording, actions }: UiServerOptions): void {
  if (feed.isFull) {
    refuse(response, { status: 503, message: "Too many pages are open." });
    return;
  }
  response.writeHead(200, { ...commonHeaders, "content-type": "text/event-stream" });
  feed.add(response, { scope, isRecording, canAct: actions !== undefined });
}

const orderNames: readonly string[] = ["step-down", "transfer", "pause", "resume"];
/** As for `tenure pause --reason`. */
const longestReason = 200;

function orderIn({ order, election, to, reason }: Record<string, unknown>): OrderGiven | undefined {
  if (typeof order !== "string" || !orderNames.includes(order) || typeof election !== "string")
    return undefined;
  if (to !== undefined && (typeof to !== "string" || to === "")) return undefined;
  if ((order === "transfer") !== (to !== undefined)) return undefined;
  if (
    reason !== undefined &&
    (typeof reason !== "string" || reason.length > longestReason || /\p{Cc}/u.test(reason))
  )
    return undefined;
  return {
    order: order as OrderGiven["order"],
    election,
    ...(to !== undefined && { to: to as string }),
    ...(reason !== undefined && { reason: reason as string }),
  };
}

function refuse(response: ServerResponse, { status, message }: Refusal): void {
  send(response, status, { message });
}

function send(response: ServerResponse, status: number, value: unknown): void {
  response.writeHead(status, { ...commonHeaders, "content-type": "application/json" });
  response.end(`${JSON.stringify(value)}\n`);
}

function sendText(response: ServerResponse, type: string, text: string): void {
  response.writeHead(200, { ...commonHeaders, "content-type": `${type}; charset=utf-8` });
  response.end(text);
}

function listen(server: Server, { host, port }: UiServerOptions): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", (cause) => {
      const message = `Cannot listen on ${host}:${port}: ${messageOf(cause)}; choose another port with --port.`;
      reject(new UiError("CannotListen", message, { cause }));
    });
    server.listen(port, host, () => resolve());
  });
}
