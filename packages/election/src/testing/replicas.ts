/** What the tests of this package need beside `newReplica` of @tenure/testkit. */
import { onAbort } from "@tenure/base";
import type { RunOptions, Term, Work } from "@tenure/election";
import { newReplica, type Replica, type ReplicaOptions } from "@tenure/testkit";

/** A replica that leads. */
export async function newLeadingReplica(
  options: ReplicaOptions = {},
  work?: Work,
  run?: RunOptions,
): Promise<Replica & { readonly term: Term }> {
  const replica = newReplica(options);
  replica.run(work, run);
  await replica.clock.until(() => replica.terms.length > 0, 1_000);
  return Object.assign(replica, { term: replica.terms[0] as Term });
}

/** Resolves when the signal aborts. */
export function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else onAbort(signal, resolve);
  });
}
