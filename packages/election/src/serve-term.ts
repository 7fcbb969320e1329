/**
 * Runs the work of one term: what `run` was given, and the tasks of `runIfLeader` and `term.run`. Upholds G1: the term counts as
 * over only when all of it has stopped, because the lease is released then.
 */
import { isAbortOf } from "@tenure/base";
import type { Work } from "./options.ts";
import type { Term } from "./term.ts";

interface ServeListeners {
  /** The work threw. */
  readonly onError: (error: unknown) => void;
  /** The work of `run` ended by itself, but tasks still run: the term is to end, and they are to stop. */
  readonly onTasksLeft: () => void;
}

/** Resolves when all work has stopped, with whether the work of `run` ended by itself. Never rejects. */
export async function serveTerm(
  term: Term,
  work: Work,
  { onError, onTasksLeft }: ServeListeners,
): Promise<{ readonly endedByItself: boolean }> {
  // The remaining notices of this step, such as the new leader, come before the work starts.
  await undefined;
  try {
    // The process may have been frozen since the term was won.
    if (!term.signal.aborted && term.isValid()) await work(term);
  } catch (error) {
    if (!isAbortOf(term.signal, error)) onError(error);
  }
  const endedByItself = !term.signal.aborted;
  // From here on no task starts.
  if (endedByItself) term.abort("work-ended");
  if (!term.tasks.isIdle) {
    if (endedByItself) onTasksLeft();
    await term.tasks.idle();
  }
  term.close();
  return { endedByItself };
}

/** The work of a run without work of its own: the term lasts until it has to end. */
export function untilEnding({ signal }: Term): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener("abort", () => resolve(), { once: true });
  });
}
