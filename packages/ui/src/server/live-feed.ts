/**
 * The timeline that the pages of this server show. A page gets all elections first, one message each, and then every observation.
 * The page computes the same timeline from them.
 */
import type { ServerResponse } from "node:http";
import { after, type Clock } from "@tenure/base";
import type { Observation } from "../model/observation.ts";
import type { Timeline } from "../model/timeline.ts";

/** So that a page shows the right time, and notices that its server is gone. */
const heartbeatMs = 2_000;
/** A page that does not read is disconnected. It connects again and gets everything. */
const mostBufferedBytes = 8 * 1024 * 1024;
const mostPages = 32;

export class LiveFeed {
  readonly timeline: Timeline;
  readonly #clock: Clock;
  readonly #nowMs: () => number;
  readonly #pages = new Set<ServerResponse>();
  #stopHeartbeat = () => {};

  /** @param nowMs the time by the clock of the observations; for a recording, that of its end */
  constructor(timeline: Timeline, clock: Clock, nowMs: () => number) {
    this.timeline = timeline;
    this.#clock = clock;
    this.#nowMs = nowMs;
    this.#beat();
  }

  observe(seen: Observation): void {
    this.timeline.observe(seen);
    this.#send("seen", seen);
  }

  get isFull(): boolean {
    return this.#pages.size >= mostPages;
  }

  /** @param facts about the server, for the page */
  add(page: ServerResponse, facts: object): void {
    const { elections, ...rest } = this.timeline.toJSON();
    page.on("close", () => this.#pages.delete(page));
    page.on("error", () => this.#pages.delete(page));
    page.write(format("begin", { ...rest, ...facts, nowMs: this.#nowMs(), elections: elections.length }));
    for (const line of elections) page.write(format("election", line));
    page.write(format("ready", {}));
    this.#pages.add(page);
  }

  close(): void {
    this.#stopHeartbeat();
    for (const page of this.#pages) page.end();
    this.#pages.clear();
  }

  #beat(): void {
    this.#stopHeartbeat = after(this.#clock, heartbeatMs, () => {
      this.timeline.advance(this.#nowMs());
      this.#send("now", { nowMs: this.#nowMs() });
      this.#beat();
    });
  }

  #send(event: string, data: unknown): void {
    const text = format(event, data);
    for (const page of this.#pages) {
      if (page.writableLength > mostBufferedBytes) page.destroy();
      else page.write(text);
    }
  }
}

function format(event: string, data: unknown): string {
  return `event: ${event}\ndata: ${JSON.stringify(data)}\n\n`;
}
