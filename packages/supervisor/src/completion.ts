/**
 * Work that is done once: its completion is recorded at the lock, by the holder of the lock, before it releases the lock. So
 * the next holder sees it, and does not start the work again.
 *
 * Promises that the work is never done by two at once, and that it is recorded only after it ended well. Does not promise that
 * it runs only once: if the term is lost between the end of the work and the record, the next holder does the work again.
 */
import { asError, Backoff, type Clock, sleep } from "@tenure/base";
import type { Completion, SupervisedTerm } from "./election-seam.ts";

interface Attempts {
  readonly clock: Clock;
  readonly signal: AbortSignal;
  readonly onError: (error: Error) => void;
}

const backoff = { firstMs: 100, mostMs: 2_000, jitter: 0 };

/** Resolves with undefined if the signal aborts before the answer is known. */
export function readCompletion(completion: Completion, attempts: Attempts): Promise<boolean | undefined> {
  return repeat(attempts, () => completion.isRecorded(attempts.signal));
}

/** Rejects if the completion is not recorded, because the term is over or the signal aborts. */
export async function recordCompletion(
  completion: Completion | undefined,
  term: SupervisedTerm | undefined,
  attempts: Attempts,
): Promise<void> {
  const isRecorded =
    completion && term && (await repeat(attempts, () => completion.record(term, attempts.signal)));
  if (!isRecorded) throw new Error("the term ended before the completion of the work was recorded");
}

async function repeat<T>(
  { clock, signal, onError }: Attempts,
  ask: () => Promise<T>,
): Promise<T | undefined> {
  const pauses = new Backoff(backoff, () => 0);
  while (!signal.aborted) {
    try {
      return await ask();
    } catch (error) {
      if (signal.aborted) return undefined;
      onError(asError(error));
    }
    await sleep(clock, pauses.next(), signal);
  }
  return undefined;
}
