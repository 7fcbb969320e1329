/**
 * Follows all keys of the API in etcd, from one revision on, without a gap. It reconnects by itself, to another member each
 * time. etcd sends events in the order of their revisions.
 */
import { Backoff, type Clock, onAbort, sleep } from "@tenure/base";
import { type Connection, type WatchResponse, watch } from "@tenure/etcd/internal";

export interface WatchParts {
  readonly connection: Connection;
  readonly key: Uint8Array;
  readonly rangeEnd: Uint8Array;
  readonly clock: Clock;
  /** A number in [0, 1). */
  readonly random: () => number;
  /** The revision after which the next connection begins. */
  readonly after: () => number;
  /** Events, or only the revision up to which all have been sent. */
  readonly onResponse: (response: WatchResponse) => void;
  /** The events from there on are compacted. Resolves when `after` is a revision from which etcd can go on. */
  readonly onCompacted: () => Promise<void>;
}

/** How long a member may take to start a watch. */
const startMs = 5_000;

export class EtcdWatch {
  readonly #parts: WatchParts;
  #askForProgress: (() => void) | undefined;

  constructor(parts: WatchParts) {
    this.#parts = parts;
  }

  /** Asks etcd up to which revision all events have been sent. */
  askForProgress(): void {
    this.#askForProgress?.();
  }

  /** Resolves when the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    const { connection, clock, random, onCompacted } = this.#parts;
    const backoff = new Backoff({ firstMs: 50, mostMs: 2_000, jitter: 0.5 }, random);
    while (!signal.aborted) {
      let isCompacted = false;
      try {
        isCompacted = await this.#follow(signal, () => backoff.reset());
        if (isCompacted) await onCompacted();
      } catch {
        // Requests fail in the same way, and report it.
      }
      if (signal.aborted) break;
      if (isCompacted) continue;
      connection.moveOn();
      await sleep(clock, backoff.next(), signal);
    }
    connection.close();
  }

  /** Resolves with true if the revision to begin at is compacted. Rejects if the connection ends. */
  async #follow(signal: AbortSignal, onStarted: () => void): Promise<boolean> {
    const { connection, key, rangeEnd, clock, after, onResponse } = this.#parts;
    const stream = await connection.stream(watch, signal, startMs);
    let isStarted = false;
    const cleanups: (() => void)[] = [];
    try {
      return await new Promise<boolean>((resolve, reject) => {
        cleanups.push(
          onAbort(signal, () => resolve(false)),
          clock.at(clock.now().monoMs + startMs, () => {
            if (!isStarted) reject(new Error("the watch did not start in time"));
          }),
        );
        stream.on("error", reject);
        stream.on("end", () => reject(new Error("etcd ended the watch")));
        stream.on("data", (response: WatchResponse) => {
          if (response.canceled) {
            if (response.compactRevision > 0n) resolve(true);
            else reject(new Error(response.cancelReason));
            return;
          }
          if (response.created) {
            isStarted = true;
            onStarted();
            this.#askForProgress = () => stream.write({ progress: {} });
            this.#askForProgress();
          } else onResponse(response);
        });
        const startRevision = BigInt(after() + 1);
        stream.write({ create: { key, rangeEnd, startRevision, progressNotify: true } });
      });
    } finally {
      for (const cleanup of cleanups) cleanup();
      this.#askForProgress = undefined;
      stream.on("error", () => {});
      stream.cancel();
    }
  }
}
