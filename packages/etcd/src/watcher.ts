/**
 * Watches one key. It always starts at the present, never at an old revision: after a restore of etcd, a watch from a revision
 * of the future would stay silent. So the caller has to read the key after every gap.
 */
import { Backoff, type Clock, onAbort, sleep } from "@tenure/base";
import type { Connection } from "./connection.ts";
import { type WatchResponse, watch } from "./wire/messages.ts";

/** How long a member may take to start the watch. */
const startMs = 5_000;

export interface WatcherParts {
  readonly connection: Connection;
  readonly key: Uint8Array;
  readonly clock: Clock;
  /** A number in [0, 1). */
  readonly random: () => number;
  /** From now on every event arrives. Earlier ones may be missing. */
  readonly onUp: () => void;
  readonly onEvents: (response: WatchResponse) => void;
  readonly onDown: (error: unknown) => void;
}

/** Watches until the signal aborts, and reconnects by itself, to another member each time. */
export async function watchKey(parts: WatcherParts, signal: AbortSignal): Promise<void> {
  const { connection, clock, random } = parts;
  const backoff = new Backoff({ firstMs: 100, mostMs: 10_000, jitter: 0.5 }, random);
  while (!signal.aborted) {
    try {
      await watchOnce(parts, signal, () => {
        backoff.reset();
        parts.onUp();
      });
    } catch (error) {
      if (signal.aborted) break;
      parts.onDown(error);
      connection.streamFailed(error);
    }
    await sleep(clock, backoff.next(), signal);
  }
  connection.close();
}

/** Rejects when the watch ends, unless the signal aborted. */
async function watchOnce(
  { connection, key, clock, onEvents }: WatcherParts,
  signal: AbortSignal,
  onUp: () => void,
): Promise<void> {
  const stream = await connection.stream(watch, signal, startMs);
  let isStarted = false;
  await new Promise<void>((resolve, reject) => {
    const cleanups = [
      onAbort(signal, () => finish(resolve)),
      clock.at(clock.now().monoMs + startMs, () => {
        if (!isStarted) finish(() => reject(new Error("the watch did not start in time")));
      }),
    ];
    const finish = (settle: () => void) => {
      for (const cleanup of cleanups.splice(0)) cleanup();
      settle();
      stream.cancel();
    };
    stream.on("error", (error: Error) => finish(() => reject(error)));
    stream.on("end", () => finish(() => reject(new Error("etcd ended the watch"))));
    stream.on("data", (response: WatchResponse) => {
      if (response.canceled) {
        const reason = response.cancelReason || "etcd cancelled the watch";
        finish(() => reject(new Error(reason)));
        return;
      }
      if (response.created && !isStarted) {
        isStarted = true;
        onUp();
      }
      if (response.events.length > 0) onEvents(response);
    });
    stream.write({ create: { key } });
  });
}
