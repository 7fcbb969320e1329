/**
 * One request and its answer. Upholds: it settles within its time limit, the wait for a free connection included; a failed
 * connection is never used again; a write goes out at most once (twice after a 401, which refused the first).
 */
import type * as http from "node:http";
import { Cancellation } from "../cancellation.ts";
import type { ClientContext, KubeRequest } from "../client.ts";
import { KubeError, systemCode } from "../errors.ts";
import { describeNeed, rbacRuleFor } from "../rbac.ts";
import { networkError } from "./network-error.ts";
import type { Slot } from "./pool.ts";
import type { Outgoing, Session } from "./session.ts";
import { type Answer, errorFromAnswer, parseAnswer } from "./status.ts";

const defaultTimeoutMs = 10_000;
/** Far above any object that etcd stores (1.5 MiB): only a wrong server says more. */
export const maxBodyBytes = 8 * 1024 * 1024;

type Message = Omit<Outgoing, "agent"> & { readonly body: string | undefined };

export async function performRequest(client: ClientContext, request: KubeRequest): Promise<unknown> {
  const path = withQuery(request.path, request.query);
  const need = rbacRuleFor(request.method, path);
  const doing = describeNeed(need);
  const body = request.body === undefined ? undefined : JSON.stringify(request.body);
  const message: Message = { method: request.method, path, headers: bodyHeaders(body, request), body };
  const timeoutMs = request.timeoutMs ?? defaultTimeoutMs;

  const cancellation = new Cancellation();
  const progress = { waitingFor: "the configuration of the cluster" };
  cancellation.followSignal(request.signal, doing);
  cancellation.followTimer(
    client.platform,
    timeoutMs,
    () =>
      new KubeError("Timeout", `Cannot ${doing}: ${timeoutMs} ms passed waiting for ${progress.waitingFor}.`),
  );
  cancellation.addCleanup(client.register(cancellation.cancel));
  try {
    const session = await cancellation.race(client.session());
    let answer = await authorized(session, message, cancellation, doing, progress);
    if (answer.status === 401) {
      progress.waitingFor = "new credentials after a 401";
      await cancellation.race(session.refresh());
      answer = await authorized(session, message, cancellation, doing, progress);
    }
    if (answer.status >= 200 && answer.status < 300) return parseAnswer(answer, need);
    throw errorFromAnswer(answer, need, client.platform.now);
  } finally {
    cancellation.dispose();
  }
}

/** Path and query in one, so that selectors are part of what is described and authorized. */
export function withQuery(path: string, query: KubeRequest["query"] = {}): string {
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

async function authorized(
  session: Session,
  message: Message,
  cancellation: Cancellation,
  doing: string,
  progress: { waitingFor: string },
): Promise<Answer> {
  progress.waitingFor = "credentials";
  const open = await cancellation.race(session.prepare());
  const send = async (): Promise<Answer> => {
    progress.waitingFor = `a connection that is free: other requests of this client wait for ${session.server}`;
    const slot = await freeSlot(session, cancellation);
    progress.waitingFor = `an answer of ${session.server}`;
    try {
      const answer = await exchange(session, slot, open, message, cancellation, doing);
      slot.answered();
      return answer;
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
      leave();
      // Those who have the connections do not get on: whoever tries again does so on others.
      session.pools.suspect();
      reject(error);
    });
    const leave = session.pools.enter((slot) => {
      offCancel();
      resolve(slot);
    });
  });
}

/** The server had closed an idle connection just as a GET was put on it. */
class StaleSocket extends Error {}

function exchange(
  session: Session,
  { pool }: Slot,
  open: (outgoing: Outgoing) => http.ClientRequest,
  message: Message,
  cancellation: Cancellation,
  doing: string,
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    if (cancellation.error !== undefined) return reject(cancellation.error);
    let request: http.ClientRequest;
    const fail = (error: unknown): void => {
      offCancel();
      if (error === cancellation.error) session.pools.suspect(pool);
      else session.pools.retire(pool);
      request.destroy();
      const isStale =
        request.reusedSocket && !answered && message.method === "GET" && resets.has(systemCode(error) ?? "");
      reject(isStale ? new StaleSocket() : networkError(error, doing, session.server));
    };
    let answered = false;
    try {
      request = open({ ...message, agent: pool.agent });
    } catch (error) {
      return reject(networkError(error, doing, session.server));
    }
    const offCancel = cancellation.onCancel(fail);
    request.on("error", fail);
    request.on("response", (response) => {
      answered = true;
      readBody(response, maxBodyBytes, doing).then((body) => {
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
  doing: string,
): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    const chunks: Uint8Array[] = [];
    let size = 0;
    response.on("data", (chunk: Uint8Array) => {
      size += chunk.length;
      chunks.push(chunk);
      if (size > maxBytes) {
        reject(new KubeError("BadResponse", `Cannot ${doing}: the answer is larger than ${maxBytes} bytes.`));
      }
    });
    response.on("end", () => resolve(Buffer.concat(chunks)));
    response.on("error", reject);
    response.on("close", () => reject(Object.assign(new Error("cut off"), { code: "ECONNRESET" })));
  });
}
