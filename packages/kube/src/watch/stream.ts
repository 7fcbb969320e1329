/**
 * One connection of a watch, from the request to its end. It notices when the server is silent. A line that is not valid JSON
 * ends the stream; no line is skipped. After a cancellation no callback is called.
 */
import { after, type Clock } from "@tenure/base";
import type { Cancellation } from "../cancellation.ts";
import { KubeError } from "../errors.ts";
import { networkError } from "../http/network-error.ts";
import { readBody } from "../http/request.ts";
import { type ApiResponse, quoteStart } from "../http/response.ts";
import type { Session } from "../http/session.ts";
import { LineSplitter } from "./lines.ts";

const maxLineBytes = 8 * 1024 * 1024;
const maxErrorBytes = 64 * 1024;
/** An API server sends the headers of a watch at once, before the first event. */
const headersLimitMs = 10_000;

/** A callback of the caller threw. The cause is what it threw. */
export class CallbackError extends Error {}

type StreamOptions = {
  readonly session: Session;
  readonly clock: Clock;
  readonly cancellation: Cancellation;
  readonly path: string;
  readonly action: string;
  readonly idleMs: number | undefined;
  onConnected(): void;
  /** Returns an error to end the stream. */
  onLine(parsed: unknown): KubeError | undefined;
  /** Turns a response other than 200 into an error. */
  toError(response: ApiResponse): KubeError;
};

/** Resolves when the server ends the stream normally. Rejects with a `KubeError` or a `CallbackError`. */
export async function readStream(options: StreamOptions): Promise<void> {
  const { session, clock, cancellation, path, action, idleMs } = options;
  const open = await cancellation.race(session.prepare());
  if (cancellation.error !== undefined) throw cancellation.error;
  const agent = session.watchAgent();
  let cancelTimer = (): void => {};
  let offCancel = (): void => {};
  try {
    await new Promise<void>((resolve, reject) => {
      let settled = false;
      const settle = (error?: unknown): void => {
        if (settled) return;
        settled = true;
        if (error === undefined) resolve();
        else reject(error instanceof CallbackError ? error : networkError(error, action, session.server));
      };
      const limitSilence = (ms: number | undefined): void => {
        cancelTimer();
        if (ms === undefined) return;
        const silent = () =>
          new KubeError("Timeout", `Cannot ${action}: ${session.server} has sent nothing for ${ms} ms.`);
        cancelTimer = after(clock, ms, () => settle(silent()));
      };
      const request = open({ method: "GET", path, headers: {} }, agent);
      offCancel = cancellation.onCancel(settle);
      limitSilence(headersLimitMs);
      request.on("error", settle);
      request.on("socket", (socket) => socket.setKeepAlive(true, 15_000));
      request.on("response", (response) => {
        if (settled) return;
        if (response.statusCode !== 200) {
          const status = response.statusCode ?? 0;
          readBody(response, maxErrorBytes, () => action).then(
            (body) => settle(options.toError({ status, headers: response.headers, body })),
            settle,
          );
          return;
        }
        limitSilence(idleMs);
        callCallback(settle, options.onConnected);
        const lines = new LineSplitter(maxLineBytes);
        response.on("data", (chunk: Uint8Array) => {
          if (settled) return;
          limitSilence(idleMs);
          try {
            for (const line of lines.push(chunk)) {
              const parsed = parseLine(line, action);
              callCallback(settle, () => {
                const error = options.onLine(parsed);
                if (error !== undefined) settle(error);
              });
              if (settled) return;
            }
          } catch (error) {
            settle(error instanceof RangeError ? tooLong(error, action) : error);
          }
        });
        response.on("end", () => {
          if (lines.pendingBytes === 0) settle();
          else
            settle(
              new KubeError("BadResponse", `Cannot ${action}: the stream ended in the middle of a line.`),
            );
        });
        response.on("error", settle);
        response.on("close", () =>
          settle(Object.assign(new Error("connection closed"), { code: "ECONNRESET" })),
        );
      });
      request.end();
    });
  } finally {
    cancelTimer();
    offCancel();
    agent.destroy();
  }
}

function callCallback(settle: (error?: unknown) => void, callback: () => void): void {
  try {
    callback();
  } catch (error) {
    settle(new CallbackError("a callback of the watch threw", { cause: error }));
  }
}

function tooLong(error: RangeError, action: string): KubeError {
  return new KubeError("BadResponse", `Cannot ${action}: ${error.message}.`, { cause: error });
}

function parseLine(line: string, action: string): unknown {
  try {
    return JSON.parse(line);
  } catch (error) {
    const start = quoteStart(new TextEncoder().encode(line));
    const message = `Cannot ${action}: the stream is not JSON. A line starts with ${start}.`;
    throw new KubeError("BadResponse", message, { cause: error });
  }
}
