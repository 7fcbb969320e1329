/** What a server sends over one connection: it arrives in order, late if the connection stalls, and not after its end. */
import type { ClientParts } from "./store-parts.ts";

export class EventQueue {
  readonly #parts: ClientParts;
  #lastMs: number;
  #delayed: (() => void)[] = [];
  #isClosed = false;

  constructor(parts: ClientParts) {
    this.#parts = parts;
    this.#lastMs = parts.scheduler.nowMs;
  }

  get isEmpty(): boolean {
    return this.#delayed.length === 0;
  }

  /** @param isStalled it waits until `release` is called */
  send(deliver: () => void, isStalled = false): void {
    if (isStalled) {
      this.#delayed.push(deliver);
      return;
    }
    const { scheduler, link, defer } = this.#parts;
    this.#lastMs = Math.max(this.#lastMs, scheduler.nowMs + link.latencyMs());
    scheduler.at(this.#lastMs, () =>
      defer(() => {
        if (!this.#isClosed) deliver();
      }),
    );
  }

  release(): void {
    for (const deliver of this.#delayed.splice(0)) this.send(deliver);
  }

  close(): void {
    this.#isClosed = true;
    this.#delayed = [];
  }
}
