// @ts-check
// `for await` over the terms.
import { Election, LeaseLock } from "@tenure/election";
import { identity, job, lockOptions, shutdown } from "./work.mjs";

const election = new Election({ lock: new LeaseLock(lockOptions("terms")), identity });
for await (const term of election.terms({ signal: shutdown.signal })) {
  while (term.isValid() && !term.signal.aborted) await job(term);
}
