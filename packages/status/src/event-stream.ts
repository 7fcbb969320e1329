/**
 * Sends status changes as server-sent events. The first event and every later one contain the whole status, so a client
 * that reconnects does not need the events that it missed.
 * A client that does not read its events is disconnected.
 */
import type { ServerResponse } from "node:http";
import { after, type Clock } from "@tenure/base";
import type { Status, StatusTracker } from "./status-tracker.ts";

/** Proxies close a connection that is silent for about 30 s. */
const heartbeatMs = 10_000;
/** A few hundred events. */
const mostBufferedBytes = 64 * 1024;
/** How soon a client reconnects. */
const reconnectMs = 1_000;

export class EventStream {
  readonly #tracker: StatusTracker;
  readonly #clock: Clock;
  readonly #clients = new Set<ServerResponse>();
  readonly #stopListening: () => void;
  #stopHeartbeat: (() => void) | undefined;
  #lastId = 0;

  constructor(tracker: StatusTracker, clock: Clock) {
    this.#tracker = tracker;
    this.#clock = clock;
    this.#stopListening = tracker.onChange(({ event, status }) => {
      const text = this.#format(event, status);
      for (const client of this.#clients) send(client, text);
    });
  }

  add(client: ServerResponse): void {
    client.on("close", () => this.#remove(client));
    client.on("error", () => this.#remove(client));
    this.#clients.add(client);
    send(client, `retry: ${reconnectMs}\n${this.#format("state", this.#tracker.status())}`);
    this.#stopHeartbeat ??= this.#startHeartbeat();
  }

  close(): void {
    this.#stopListening();
    for (const client of this.#clients) client.end();
    this.#clients.clear();
    this.#stopHeartbeat?.();
  }

  #remove(client: ServerResponse): void {
    this.#clients.delete(client);
    if (this.#clients.size > 0) return;
    this.#stopHeartbeat?.();
    this.#stopHeartbeat = undefined;
  }

  #startHeartbeat(): () => void {
    let cancel = () => {};
    const arm = () => {
      cancel = after(this.#clock, heartbeatMs, () => {
        for (const client of this.#clients) send(client, ": still here\n\n");
        arm();
      });
    };
    arm();
    return () => cancel();
  }

  #format(event: string, status: Status): string {
    return `id: ${++this.#lastId}\nevent: ${event}\ndata: ${JSON.stringify(status)}\n\n`;
  }
}

function send(client: ServerResponse, text: string): void {
  if (client.writableLength > mostBufferedBytes) client.destroy();
  else client.write(text);
}
