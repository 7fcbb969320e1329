/**
 * One connection of a watch, from the request to its end. Upholds: silence is noticed; what is not a whole line of JSON
 * breaks the stream instead of being skipped; after cancellation nothing is called any more.
 */
import type { Cancellation } from "../cancellation.ts";
import { KubeError } from "../errors.ts";
import { networkError } from "../http/network-error.ts";
import { readBody } from "../http/request.ts";
import type { Session } from "../http/session.ts";
import { type Answer, quoteStart } from "../http/status.ts";
import type { Platform } from "../platform.ts";
import { LineSplitter } from "./lines.ts";

const maxLineBytes = 8 * 1024 * 1024;
const maxErrorBytes = 64 * 1024;
/** An API server sends the headers of a watch at once, before there is an event. */
const headersLimitMs = 10_000;

/** What a callback of the caller threw: not a matter of the network. */
export class CallbackError extends Error {}

export type StreamOptions = {
  readonly session: Session;
  readonly platform: Platform;
  readonly cancellation: Cancellation;
  readonly path: string;
  readonly doing: string;
  readonly idleMs: number | undefined;
  onConnected(): void;
  /** May return an error that ends the stream. */
  onLine(parsed: unknown): KubeError | undefined;
  /** Makes an error of an answer other than 200. */
  toError(answer: Answer): KubeError;
};

/** Resolves when the server ended the stream in order; rejects with a `KubeError`, or a `CallbackError`. */
export async function readStream(options: StreamOptions): Promise<void> {
  const { session, platform, cancellation, path, doing, idleMs } = options;
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
        else reject(error instanceof CallbackError ? error : networkError(error, doing, session.server));
      };
      const arm = (ms: number | undefined, what: string): void => {
        cancelTimer();
        if (ms === undefined) return;
        const late = (): void => settle(new KubeError("Timeout", `Cannot ${doing}: ${what} for ${ms} ms.`));
        cancelTimer = platform.setTimer(late, ms);
      };
      const silent = `${session.server} has sent nothing`;
      const request = open({ method: "GET", path, headers: {}, agent });
      offCancel = cancellation.onCancel(settle);
      arm(headersLimitMs, silent);
      request.on("error", settle);
      request.on("socket", (socket) => socket.setKeepAlive(true, 15_000));
      request.on("response", (response) => {
        if (settled) return;
        if (response.statusCode !== 200) {
          const status = response.statusCode ?? 0;
          readBody(response, maxErrorBytes, doing).then(
            (body) => settle(options.toError({ status, headers: response.headers, body })),
            settle,
          );
          return;
        }
        arm(idleMs, silent);
        guard(settle, options.onConnected);
        const lines = new LineSplitter(maxLineBytes);
        response.on("data", (chunk: Uint8Array) => {
          if (settled) return;
          arm(idleMs, silent);
          try {
            for (const line of lines.push(chunk)) {
              const parsed = parseLine(line, doing);
              guard(settle, () => {
                const error = options.onLine(parsed);
                if (error !== undefined) settle(error);
              });
              if (settled) return;
            }
          } catch (error) {
            settle(error instanceof RangeError ? tooLong(error, doing) : error);
          }
        });
        response.on("end", () => {
          if (lines.pendingBytes === 0) settle();
          else settle(new KubeError("BadResponse", `Cannot ${doing}: the stream ended within a line.`));
        });
        response.on("error", settle);
        response.on("close", () => settle(Object.assign(new Error("cut off"), { code: "ECONNRESET" })));
      });
      request.end();
    });
  } finally {
    cancelTimer();
    offCancel();
    agent.destroy();
  }
}

function guard(settle: (error?: unknown) => void, callback: () => void): void {
  try {
    callback();
  } catch (error) {
    settle(new CallbackError("a callback of the watch threw", { cause: error }));
  }
}

function tooLong(error: RangeError, doing: string): KubeError {
  return new KubeError("BadResponse", `Cannot ${doing}: ${error.message}.`, { cause: error });
}

function parseLine(line: string, doing: string): unknown {
  try {
    return JSON.parse(line);
  } catch (error) {
    const start = quoteStart(new TextEncoder().encode(line));
    throw new KubeError(
      "BadResponse",
      `Cannot ${doing}: the stream is not JSON, a line begins with ${start}.`,
      {
        cause: error,
      },
    );
  }
}
