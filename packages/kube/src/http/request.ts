/**
 * Sends one request and reads the response. It settles within its time limit, which includes the wait for a free connection.
 * A failed connection is never used again. A write is sent at most once, or twice if the server rejected the first with 401.
 */
import type * as http from "node:http";
import { Cancellation } from "../cancellation.ts";
import { KubeError, systemCode } from "../errors.ts";
import { describeNeed, rbacRuleFor } from "../rbac.ts";
import type { ClientContext, KubeRequest } from "../request-types.ts";
import { networkError } from "./network-error.ts";
import type { Slot } from "./pool.ts";
import { type ApiResponse, errorFromResponse, parseResponse } from "./response.ts";
import { type Open, type Outgoing, type Session, usesOpenConnection } from "./session.ts";

const defaultTimeoutMs = 10_000;
/** Far above the largest object that etcd stores (1.5 MiB). Only a wrong server sends more. */
const maxBodyBytes = 8 * 1024 * 1024;

type Message = Outgoing & { readonly body: string | undefined };

export async function performRequest(client: ClientContext, request: KubeRequest): Promise<unknown> {
  const path = withQuery(request.path, request.query);
  // Only errors need them.
  const need = () => rbacRuleFor(request.method, path);
  const action = () => describeNeed(need());
  const body = request.body === undefined ? undefined : JSON.stringify(request.body);
  const message: Message = { method: request.method, path, headers: bodyHeaders(body, request), body };
  const timeoutMs = request.timeoutMs ?? defaultTimeoutMs;

  const cancellation = new Cancellation();
  const progress = { waitingFor: "the cluster configuration" };
  cancellation.cancelOnAbort(request.signal, action);
  cancellation.cancelAfter(client.platform.clock, timeoutMs, () => {
    const why = `timed out after ${timeoutMs} ms waiting for ${progress.waitingFor}`;
    return new KubeError("Timeout", `Cannot ${action()}: ${why}.`);
  });
  cancellation.addCleanup(client.register(cancellation.cancel));
  let session: Session | undefined;
  try {
    const opened = await cancellation.wait(client.session());
    session = opened;
    const sendOnce = () => sendWithCredentials(opened, message, cancellation, action, progress);
    let response = await sendOnce();
    if (response.status === 401) {
      progress.waitingFor = "new credentials after a 401";
      await cancellation.race(opened.refresh());
      response = await sendOnce();
    }
    if (response.status >= 200 && response.status < 300) return parseResponse(response, need);
    throw errorFromResponse(response, need(), client.platform.clock.now().wallMs);
  } catch (error) {
    throw session ? session.explain(error) : error;
  } finally {
    cancellation.dispose();
  }
}

/** Path and query in one string. The query matters for RBAC: a selector may restrict the request to one name. */
export function withQuery(path: string, query: KubeRequest["query"]): string {
  if (query === undefined) return path;
  const params = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) if (value !== undefined) params.set(name, value);
  return params.size === 0 ? path : `${path}?${params}`;
}

function bodyHeaders(body: string | undefined, request: KubeRequest): Outgoing["headers"] {
  if (body === undefined) return {};
  return {
    "content-type": request.contentType ?? "application/json",
    "content-length": String(Buffer.byteLength(body)),
  };
}

async function sendWithCredentials(
  session: Session,
  message: Message,
  cancellation: Cancellation,
  action: () => string,
  progress: { waitingFor: string },
): Promise<ApiResponse> {
  progress.waitingFor = "credentials";
  const open = await cancellation.race(session.prepare());
  const send = async (): Promise<ApiResponse> => {
    progress.waitingFor = `a free connection: other requests of this client wait for ${session.server}`;
    // Nearly always a connection is free, and nothing has to wait.
    const slot = session.pools.tryAcquire() ?? (await freeSlot(session, cancellation));
    progress.waitingFor = `a response from ${session.server}`;
    try {
      const response = await exchange(session, slot, open, message, cancellation, action);
      slot.responded();
      return response;
    } finally {
      slot.release();
    }
  };
  try {
    return await send();
  } catch (error) {
    if (!(error instanceof StaleSocket)) throw error;
    return await send();
  }
}

function freeSlot(session: Session, cancellation: Cancellation): Promise<Slot> {
  return new Promise((resolve, reject) => {
    if (cancellation.error !== undefined) return reject(cancellation.error);
    const offCancel = cancellation.onCancel((error) => {
      stopWaiting();
      // The requests that hold the connections make no progress. The next attempt may need other connections.
      session.pools.suspect();
      reject(error);
    });
    const stopWaiting = session.pools.acquire((slot) => {
      offCancel();
      resolve(slot);
    });
  });
}

/** The server closed an idle connection at the moment when a GET was sent on it. */
class StaleSocket extends Error {}

function exchange(
  session: Session,
  { pool }: Slot,
  open: Open,
  message: Message,
  cancellation: Cancellation,
  action: () => string,
): Promise<ApiResponse> {
  return new Promise((resolve, reject) => {
    if (cancellation.error !== undefined) return reject(cancellation.error);
    let request: http.ClientRequest;
    let hasFailed = false;
    const fail = (error: unknown): void => {
      // Destroying the request below makes it emit another error, which says nothing about the pool.
      if (hasFailed) return;
      hasFailed = true;
      offCancel();
      if (error === cancellation.error) session.pools.suspect(pool);
      else session.pools.retire(pool);
      request.destroy();
      const isStale =
        usesOpenConnection(request) &&
        !hasResponse &&
        message.method === "GET" &&
        resets.has(systemCode(error) ?? "");
      reject(isStale ? new StaleSocket() : networkError(error, action(), session.server));
    };
    let hasResponse = false;
    try {
      request = open(message, pool.agent);
    } catch (error) {
      return reject(networkError(error, action(), session.server));
    }
    const offCancel = cancellation.onCancel(fail);
    request.on("error", fail);
    request.on("response", (response) => {
      hasResponse = true;
      readBody(response, maxBodyBytes, action).then((body) => {
        offCancel();
        resolve({ status: response.statusCode ?? 0, headers: response.headers, body });
      }, fail);
    });
    request.end(message.body);
  });
}

const resets = new Set(["ECONNRESET", "EPIPE"]);

export function readBody(
  response: http.IncomingMessage,
  maxBytes: number,
  action: () => string,
): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    const chunks: Uint8Array[] = [];
    let size = 0;
    let hasEnded = false;
    response.on("data", (chunk: Uint8Array) => {
      size += chunk.length;
      chunks.push(chunk);
      if (size > maxBytes) {
        reject(
          new KubeError("BadResponse", `Cannot ${action()}: the response is larger than ${maxBytes} bytes.`),
        );
      }
    });
    response.on("end", () => {
      hasEnded = true;
      // Nearly every response of an election is one chunk, which need not be copied.
      resolve(chunks.length === 1 && chunks[0] ? chunks[0] : Buffer.concat(chunks));
    });
    response.on("error", reject);
    response.on("close", () => {
      // Every response is closed in the end, and an error that nobody needs costs as much as parsing the response.
      if (!hasEnded) reject(Object.assign(new Error("connection closed"), { code: "ECONNRESET" }));
    });
  });
}
