import type { Clock, Instant } from "@tenure/base";
import { type EndReason, isBefore } from "@tenure/core";
import { ElectionError } from "./errors.ts";

/** One uninterrupted period of leadership. It ends when its signal aborts, and is invalid from the hard deadline at the latest. */
export class Term {
  readonly identity: string;
  /**
   * The fencing token. It is greater than the token of every earlier term of this election, even if the lock was deleted (G2).
   * Storage that remembers the highest token it has seen can reject a process that has not noticed yet that it lost.
   */
  readonly token: bigint;
  /** Aborts when the work should stop. Its reason is an ElectionError with the code `TermEnded`. */
  readonly signal: AbortSignal;
  /**
   * Aborts when the term is lost: not renewed in time, taken over, or its lock deleted. It does not abort because a term ends on
   * purpose, but a term can be lost while it is ending. The work must then stop within `remainingMs()`.
   */
  readonly lost: AbortSignal;
  /** Aborts when no part of the work may run any more: at the hard deadline, or earlier if another replica may be working. */
  readonly expired: AbortSignal;
  readonly #controller = new AbortController();
  readonly #lost = new AbortController();
  readonly #expired = new AbortController();
  readonly #clock: Clock;
  readonly #validUntil: () => Instant | undefined;
  #isClosed = false;

  constructor(identity: string, token: bigint, clock: Clock, validUntil: () => Instant | undefined) {
    this.identity = identity;
    this.token = token;
    this.signal = this.#controller.signal;
    this.lost = this.#lost.signal;
    this.expired = this.#expired.signal;
    this.#clock = clock;
    this.#validUntil = validUntil;
  }

  /**
   * Whether the work may run at this moment. It asks the clock, so it is right even after the process was paused. It stays true
   * for a while after the signal aborts, so that the work can finish.
   */
  isValid(): boolean {
    return !this.#isClosed && isBefore(this.#clock.now(), this.#validUntil());
  }

  /** How long the work may run if the term is not renewed again, in milliseconds. */
  remainingMs(): number {
    const end = this.#isClosed ? undefined : this.#validUntil();
    if (!end) return 0;
    const now = this.#clock.now();
    return Math.max(0, Math.min(end.monoMs - now.monoMs, end.wallMs - now.wallMs));
  }

  /** @internal */
  abort(reason: EndReason): void {
    this.#controller.abort(termEnded(reason));
  }

  /** @internal */
  lose(reason: EndReason): void {
    this.abort(reason);
    this.#lost.abort(termEnded(reason));
  }

  /** @internal */
  expire(): void {
    this.#expired.abort(this.#lost.signal.reason);
  }

  /** @internal The work has stopped. If a part of it still runs, `isValid()` must not allow it to go on. */
  close(): void {
    this.#isClosed = true;
  }
}

function termEnded(reason: EndReason): ElectionError {
  return new ElectionError("TermEnded", `The term ended: ${reason}.`, { reason });
}
