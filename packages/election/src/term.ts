import { type EndReason, type Instant, isBefore } from "@tenure/core";
import type { Clock } from "./clock.ts";
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
  readonly #controller = new AbortController();
  readonly #clock: Clock;
  readonly #validUntil: () => Instant | undefined;
  #isOver = false;

  constructor(identity: string, token: bigint, clock: Clock, validUntil: () => Instant | undefined) {
    this.identity = identity;
    this.token = token;
    this.signal = this.#controller.signal;
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
    this.#controller.abort(new ElectionError("TermEnded", `The term ended: ${reason}.`, { reason }));
  }

  /** @internal The work has stopped; what is left of it must not be told that it may go on. */
  close(): void {
    this.#isOver = true;
  }
}
