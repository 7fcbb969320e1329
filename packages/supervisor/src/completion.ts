/**
 * Work that is done once: its completion is recorded at the lock, by the holder of the lock, before it releases the lock. So
 * the next holder sees it, and does not start the work again.
 *
 * Promises that the work is never done by two at once, and that it is recorded only after it ended well. Does not promise that
 * it runs only once: if the term is lost between the end of the work and the record, the next holder does the work again.
 */
import { after, Backoff, onAbort, sleep } from "@tenure/base";
import type { Completion, SupervisedTerm } from "./election-seam.ts";
import type { RunContext } from "./run-context.ts";

const backoff = { firstMs: 100, mostMs: 2_000, jitter: 0 };

/** Resolves with undefined if the term ends before the answer is known. */
export function readCompletion(
  context: RunContext,
  term: SupervisedTerm,
  completion: Completion,
): Promise<boolean | undefined> {
  return repeat(context, term.signal, () => completion.isRecorded(term.signal));
}

/**
 * Resolves with false if the term is lost before the completion is recorded. A term that ends on purpose still holds the lock:
 * the record is tried for as long as the child could have taken to stop.
 */
export async function recordCompletion(
  context: RunContext,
  term: SupervisedTerm,
  completion: Completion,
): Promise<boolean> {
  const { clock, options } = context;
  const gaveUp = new AbortController();
  let cancel = () => {};
  const limit = () => {
    cancel = after(clock, options.stopTimeoutMs, () => gaveUp.abort());
  };
  if (term.signal.aborted) limit();
  const stopListening = onAbort(term.signal, limit);
  const signal = AbortSignal.any([term.lost, term.expired, gaveUp.signal]);
  const isRecorded = await repeat(context, signal, () => completion.record(term, signal));
  stopListening();
  cancel();
  return isRecorded ?? false;
}

async function repeat<T>(
  { clock, onError }: RunContext,
  signal: AbortSignal,
  ask: () => Promise<T>,
): Promise<T | undefined> {
  const pauses = new Backoff(backoff, () => 0);
  while (!signal.aborted) {
    try {
      return await ask();
    } catch (error) {
      if (signal.aborted) return undefined;
      onError(error instanceof Error ? error : new Error(String(error)));
    }
    await sleep(clock, pauses.next(), signal);
  }
  return undefined;
}
