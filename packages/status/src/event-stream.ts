/**
 * Server-sent events: who leads, pushed rather than asked for. The whole status comes first and with every event, so that
 * a client which reconnects has missed nothing that matters.
 * Bounded: so many clients, and one that does not read what it is sent is cut off.
 */
import type { ServerResponse } from "node:http";
import type { Clock } from "@tenure/base";
import type { Status, StatusBoard } from "./board.ts";

/** Proxies drop a connection that is silent for half a minute or so. */
const heartbeatMs = 10_000;
/** Some hundred events. */
const mostBufferedBytes = 64 * 1024;
/** How soon a client comes again. */
const reconnectMs = 1_000;

export class EventStream {
  readonly #board: StatusBoard;
  readonly #clock: Clock;
  readonly #clients = new Set<ServerResponse>();
  readonly #stopListening: () => void;
  #stopHeartbeat: (() => void) | undefined;
  #lastId = 0;

  constructor(board: StatusBoard, clock: Clock) {
    this.#board = board;
    this.#clock = clock;
    this.#stopListening = board.listen((event, status) => {
      const text = this.#format(event, status);
      for (const client of this.#clients) send(client, text);
    });
  }

  get clients(): number {
    return this.#clients.size;
  }

  add(client: ServerResponse): void {
    client.on("close", () => this.#remove(client));
    client.on("error", () => this.#remove(client));
    this.#clients.add(client);
    send(client, `retry: ${reconnectMs}\n${this.#format("state", this.#board.status())}`);
    this.#stopHeartbeat ??= this.#beat();
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

  #beat(): () => void {
    let cancel = () => {};
    const arm = () => {
      cancel = this.#clock.at(this.#clock.now().monoMs + heartbeatMs, () => {
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
