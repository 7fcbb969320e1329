import { type Clock, type Instant, isAbortOf } from "@tenure/base";
import { type EndReason, isBefore } from "@tenure/core";
import { ElectionError, invalidOptions } from "./errors.ts";
import { RunningTasks, refusalOf, type TaskRefusal, type TaskResult } from "./task.ts";
import { formatToken } from "./token.ts";

/** A part of the work of a term. Its promise must settle only when everything that it started has stopped. */
export type Task<T> = (term: Term) => T | PromiseLike<T>;

/**
 * One uninterrupted period of leadership. It ends when its signal aborts, and is invalid from the hard deadline at the latest.
 * @example
 * await election.run(async (term) => {
 *   while (term.isValid() && !term.signal.aborted) await bill({ token: term.token, signal: term.signal });
 * });
 */
export class Term {
  /** The identity of this candidate. */
  readonly identity: string;
  /**
   * The fencing token. It is greater than the token of every earlier term of this election, even if the lock was deleted (G2).
   * Storage that remembers the highest token it has seen can reject a process that has not noticed yet that it lost.
   *
   * It is a string of 20 digits with leading zeros, so that JSON can carry it and `<` compares it correctly as a string. As a
   * number: `BigInt(term.token)`.
   * @example
   * await sql`UPDATE jobs SET done = true, token = ${term.token} WHERE id = ${id} AND token <= ${term.token}`;
   */
  readonly token: string;
  readonly #tasks = new RunningTasks();
  readonly #controller = new AbortController();
  readonly #lost = new AbortController();
  readonly #expired = new AbortController();
  readonly #clock: Clock;
  readonly #validUntil: () => Instant | undefined;
  #isClosed = false;

  /** @internal */
  constructor(identity: string, revision: bigint, clock: Clock, validUntil: () => Instant | undefined) {
    this.identity = identity;
    this.token = formatToken(revision);
    this.#clock = clock;
    this.#validUntil = validUntil;
  }

  /** Aborts when the work should stop. Its reason is an ElectionError with the code `TermEnded`. */
  get signal(): AbortSignal {
    return this.#controller.signal;
  }

  /**
   * Aborts when the term is lost: not renewed in time, taken over, or its lock deleted. It does not abort because a term ends on
   * purpose, but a term can be lost while it is ending. The work must then stop within `remainingMs()`.
   */
  get lost(): AbortSignal {
    // Not a field: Node creates a signal, which takes kilobytes, when it is first asked for.
    return this.#lost.signal;
  }

  /** Aborts when no part of the work may run any more: at the hard deadline, or earlier if another replica may be working. */
  get expired(): AbortSignal {
    return this.#expired.signal;
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

  /**
   * Runs a task as a part of this term's work: the lease is not released before the task has stopped. The same limits apply to it
   * as to the work of `run`: `term.signal` tells it to stop, and `stopTimeout` and `onOverrun` apply if it does not. The task is
   * not started if the term is over or about to end. An error of the task rejects the promise and does not end the term.
   * @example
   * const { ran } = await term.run(({ signal }) => sendReport(signal));
   */
  async run<T>(task: Task<T>): Promise<TaskResult<T>> {
    if (typeof task !== "function")
      throw invalidOptions("run the task", [
        { field: "task", rule: "must be a function", value: typeof task },
      ]);
    const reason = this.refusal();
    if (reason) return { ran: false, completed: false, reason };
    this.#tasks.started();
    try {
      // Nothing may be awaited between the check and this call: the term could end meanwhile.
      return { ran: true, completed: true, value: await task(this) };
    } catch (error) {
      if (!isAbortOf(this.signal, error)) throw error;
      return { ran: true, completed: false, reason: endReasonOf(this.signal) };
    } finally {
      this.#tasks.stopped();
    }
  }

  /** @internal The tasks that run. */
  get tasks(): RunningTasks {
    return this.#tasks;
  }

  /** @internal Why a task must not be started now; undefined if it may. */
  refusal(): TaskRefusal | undefined {
    return refusalOf({ isValid: this.isValid(), isEnding: this.signal.aborted });
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

function endReasonOf({ reason }: AbortSignal): EndReason {
  return (reason as ElectionError).reason as EndReason;
}
