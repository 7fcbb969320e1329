/** Tasks: parts of a term's work that are started one by one, by `term.run` and `election.runIfLeader`. */
import type { EndReason } from "@tenure/core";

/**
 * Why a task was not started.
 * - `not-leading`: this process does not lead, or its time is over.
 * - `ending`: the term is about to end, and its work is being stopped.
 */
export type TaskRefusal = "not-leading" | "ending";

/** What became of a task. */
export type TaskResult<T> =
  /** The task returned `value`. */
  | { readonly ran: true; readonly completed: true; readonly value: T }
  /** The term ended while the task ran, and the task threw because of that: the reason of its signal, or an AbortError. */
  | { readonly ran: true; readonly completed: false; readonly reason: EndReason }
  /** The task was not started. */
  | { readonly ran: false; readonly completed: false; readonly reason: TaskRefusal };

interface TermFacts {
  /** The work has been told to stop. */
  readonly isEnding: boolean;
  /** The clock says that the work may run. */
  readonly isValid: boolean;
}

/** Why a task must not be started now; undefined if it may. */
export function refusalOf(term: TermFacts | undefined): TaskRefusal | undefined {
  if (!term?.isValid) return "not-leading";
  // The owner of the lease waits for the tasks that run. If it let new ones start, it might wait for ever.
  return term.isEnding ? "ending" : undefined;
}

/** Counts the tasks that run. */
export class RunningTasks {
  #count = 0;
  #onIdle: (() => void) | undefined;

  get isIdle(): boolean {
    return this.#count === 0;
  }

  started(): void {
    this.#count += 1;
  }

  stopped(): void {
    this.#count -= 1;
    if (this.#count === 0) this.#onIdle?.();
  }

  /** Resolves when no task runs. */
  idle(): Promise<void> {
    return new Promise((resolve) => {
      this.#onIdle = resolve;
      if (this.isIdle) resolve();
    });
  }
}
