/**
 * Notices handlers that run for too long. There is one timer for all of them, because a timer for each message would slow down
 * handlers that finish at once.
 */
import { after, type Clock } from "@tenure/base";

export class HandlerTimeouts<Handler> {
  readonly #clock: Clock;
  readonly #timeoutMs: number;
  readonly #onOverdue: (handler: Handler) => void;
  /** When each handler started, oldest first. */
  readonly #started = new Map<Handler, number>();
  readonly #overdue = new Map<Handler, number>();
  #cancelTimer: (() => void) | undefined;

  /** @param timeoutMs Infinity for none */
  constructor(clock: Clock, timeoutMs: number, onOverdue: (handler: Handler) => void) {
    this.#clock = clock;
    this.#timeoutMs = timeoutMs;
    this.#onOverdue = onOverdue;
  }

  /** How long the oldest of the handlers that are overdue has run; 0 if none is. */
  get overdueMs(): number {
    const [startedMs] = this.#overdue.values();
    return startedMs === undefined ? 0 : this.#clock.now().monoMs - startedMs;
  }

  start(handler: Handler): void {
    if (this.#timeoutMs === Number.POSITIVE_INFINITY) return;
    this.#started.set(handler, this.#clock.now().monoMs);
    this.#cancelTimer ??= after(this.#clock, this.#timeoutMs, () => this.#check());
  }

  /** Returns whether the handler was overdue. */
  end(handler: Handler): boolean {
    this.#started.delete(handler);
    return this.#overdue.delete(handler);
  }

  close(): void {
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
  }

  #check(): void {
    this.#cancelTimer = undefined;
    const nowMs = this.#clock.now().monoMs;
    for (const [handler, startedMs] of this.#started) {
      const leftMs = startedMs + this.#timeoutMs - nowMs;
      if (leftMs > 0) {
        this.#cancelTimer = after(this.#clock, leftMs, () => this.#check());
        return;
      }
      this.#started.delete(handler);
      this.#overdue.set(handler, startedMs);
      this.#onOverdue(handler);
    }
  }
}
