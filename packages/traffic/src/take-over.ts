/**
 * Takes a dead leader out of traffic while its successor is still starting. Usually the successor replaces it when it opens its
 * gates, which costs no extra request. If the work needs longer to become ready, clients would reach a dead address until then.
 */
import { after, type Clock, onAbort, systemClock, warn } from "@tenure/base";
import type { Term } from "@tenure/election";
import type { Gate } from "./gate.ts";

/** Work that is ready within this time opens the gates itself, which replaces the last leader in the same request. */
const patienceMs = 250;

export interface TakeOverOptions {
  readonly gates: readonly Gate[];
  /** Called with each error. @default emits a process warning */
  readonly onError?: (error: Error) => void;
  /** @default the system clock */
  readonly clock?: Clock;
}

/** Call it when the term begins. */
export function takeOverSoon(term: Term, options: TakeOverOptions): void {
  const { gates, onError = warn, clock = systemClock } = options;
  const cancel = after(clock, patienceMs, () => {
    stopListening();
    for (const gate of gates) gate.takeOver?.(term)?.catch(onError);
  });
  // A term that ends leaves traffic to its successor.
  const stopListening = onAbort(term.signal, cancel);
}

/** Calls `takeOverSoon` for every term of an election, if a gate can take over. The returned function stops that. */
export function takeOverEachTerm(
  election: { on(name: "term-started", listener: (event: { readonly term: Term }) => void): () => void },
  options: TakeOverOptions,
): () => void {
  if (!options.gates.some(({ takeOver }) => takeOver)) return () => {};
  return election.on("term-started", ({ term }) => takeOverSoon(term, options));
}
