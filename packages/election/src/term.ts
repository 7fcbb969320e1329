import type { Clock, Instant } from "@tenure/base";
import { type EndReason, isBefore } from "@tenure/core";
import { ElectionError } from "./errors.ts";

/** One uninterrupted leadership. Over when its signal aborts; not valid any more at the hard deadline at the latest. */
export class Term {
  readonly identity: string;
  /**
   * The fencing token: greater than that of any earlier term of this election, also after the lock was deleted (G2).
   * A storage that remembers the highest token it saw can refuse a process that has not noticed yet that it lost.
   */
  readonly token: bigint;
  /** Aborts when the work should stop. Its reason is an ElectionError with code `TermEnded`. */
  readonly signal: AbortSignal;
  /**
   * Aborts when the term is lost: not renewed in time, taken over, deleted. It does not abort when the term ends on purpose,
   * and may abort while it does. From then on the work must be gone within `remainingMs()`.
   */
  readonly lost: AbortSignal;
  /** Aborts when nothing of the work may run any more: at the hard deadline, or sooner if somebody else may be working. */
  readonly expired: AbortSignal;
  readonly #controller = new AbortController();
  readonly #lost = new AbortController();
  readonly #expired = new AbortController();
  readonly #clock: Clock;
  readonly #validUntil: () => Instant | undefined;
  #isOver = false;

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
   * Whether the work may run at this very moment: asks the clock, so that it is right also after a pause that nobody
   * could announce. Stays true for a while after the signal aborted, for the work to finish in.
   */
  isValid(): boolean {
    return !this.#isOver && isBefore(this.#clock.now(), this.#validUntil());
  }

  /** How long the work may still run if the term is not renewed any more, in milliseconds. */
  remainingMs(): number {
    const end = this.#isOver ? undefined : this.#validUntil();
    if (!end) return 0;
    const now = this.#clock.now();
    return Math.max(0, Math.min(end.monoMs - now.monoMs, end.wallMs - now.wallMs));
  }

  /** @internal */
  abort(reason: EndReason): void {
    this.#controller.abort(endOf(reason));
  }

  /** @internal */
  lose(reason: EndReason): void {
    this.abort(reason);
    this.#lost.abort(endOf(reason));
  }

  /** @internal */
  expire(): void {
    this.#expired.abort(this.#lost.signal.reason);
  }

  /** @internal The work has stopped; what is left of it must not be told that it may go on. */
  close(): void {
    this.#isOver = true;
  }
}

function endOf(reason: EndReason): ElectionError {
  return new ElectionError("TermEnded", `The term ended: ${reason}.`, { reason });
}
