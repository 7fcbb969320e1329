/** The terms of an election as an async iterable. */
import { onAbort } from "@tenure/base";
import type { RunOptions, Work } from "./options.ts";
import type { Term } from "./term.ts";

interface Offer {
  readonly term: Term;
  /** The body of the loop has ended. */
  readonly end: () => void;
}

/** @param run starts the election. It is called when the loop asks for the first term. */
export async function* termsOf(
  run: (work: Work, options: RunOptions) => Promise<void>,
  signal: AbortSignal | undefined,
): AsyncGenerator<Term, void, undefined> {
  if (signal?.aborted) return;
  const stop = new AbortController();
  const stopListening = signal && onAbort(signal, () => stop.abort());
  let offer: Offer | undefined;
  let outcome: { readonly error?: unknown } | undefined;
  let wake = () => {};
  const serve: Work = (term) =>
    new Promise<void>((end) => {
      offer = { term, end };
      wake();
    });
  const ended = (how: { readonly error?: unknown }) => {
    outcome = how;
    wake();
  };
  const running = run(serve, { signal: stop.signal }).then(
    () => ended({}),
    (error) => ended({ error }),
  );
  const next = async (): Promise<Offer | undefined> => {
    while (!offer && !outcome) {
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
    const taken = offer;
    offer = undefined;
    return taken;
  };
  try {
    for (let served = await next(); served; served = await next()) {
      try {
        // The process may have been frozen since the term was won.
        if (!served.term.signal.aborted && served.term.isValid()) yield served.term;
      } finally {
        served.end();
      }
    }
    if (outcome && "error" in outcome) throw outcome.error;
  } finally {
    // After `break`, `return` or an error in the body, the loop ends when the lease has been released.
    stopListening?.();
    stop.abort();
    await running;
  }
}
