/**
 * Follows the status of one replica by its server-sent events. Reconnects for ever, and reports when the connection ends: that is
 * how a crash is told from a freeze.
 */
import { get, type IncomingMessage } from "node:http";
import { Backoff, type Clock, onAbort, sleep, systemRandom } from "@tenure/base";
import { EventParser } from "@tenure/ui";

/** The part of a replica's status that is used here. It comes from another process, so nothing of it is certain. */
export interface ReplicaStatus {
  readonly identity?: unknown;
  readonly phase?: unknown;
  readonly token?: unknown;
  readonly leaseSecondsLeft?: unknown;
  readonly healthy?: unknown;
  readonly message?: unknown;
  readonly child?: { readonly state?: unknown } | null;
}

export interface ReplicaListener {
  onStatus(status: ReplicaStatus): void;
  /** The connection ended, or could not be made. */
  onLost(): void;
}

/** The server sends something every 10 s. */
const silentMs = 30_000;
const backoff = { firstMs: 250, mostMs: 5_000, jitter: 0.5 };

/** Resolves when the signal aborts. @param url `http://127.0.0.1:8080` */
export async function followReplica(
  url: string,
  clock: Clock,
  signal: AbortSignal,
  listener: ReplicaListener,
): Promise<void> {
  const waits = new Backoff(backoff, systemRandom);
  while (!signal.aborted) {
    const hadStatus = await followOnce(`${url}/events`, signal, listener.onStatus);
    if (signal.aborted) return;
    if (hadStatus) waits.reset();
    listener.onLost();
    await sleep(clock, waits.next(), signal).catch(() => {});
  }
}

/** Resolves when the connection has ended, with whether a status arrived. */
function followOnce(
  url: string,
  signal: AbortSignal,
  onStatus: (status: ReplicaStatus) => void,
): Promise<boolean> {
  return new Promise((resolve) => {
    let hadStatus = false;
    const request = get(url, { agent: false, headers: { accept: "text/event-stream" }, timeout: silentMs });
    const stop = onAbort(signal, () => request.destroy());
    const end = () => {
      stop();
      request.destroy();
      resolve(hadStatus);
    };
    request.on("timeout", end).on("error", end).on("close", end);
    request.on("response", (response: IncomingMessage) => {
      if (response.statusCode !== 200) return end();
      const parser = new EventParser((data) => {
        const status = parse(data);
        if (!status) return;
        hadStatus = true;
        onStatus(status);
      });
      response.setEncoding("utf8").on("data", (chunk: string) => parser.push(chunk));
      response.on("end", end).on("error", end);
      return undefined;
    });
  });
}

function parse(data: string): ReplicaStatus | undefined {
  try {
    const value: unknown = JSON.parse(data);
    return typeof value === "object" && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}
