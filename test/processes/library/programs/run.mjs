// @ts-check
// The first example of docs/tasks/use-the-library.md: work in a loop.
import { Election, LeaseLock } from "@tenure/election";
import { identity, job, lockOptions, shutdown } from "./work.mjs";

const election = new Election({ lock: new LeaseLock(lockOptions("run")), identity });
await election.run(
  async (term) => {
    while (term.isValid() && !term.signal.aborted) await job(term);
  },
  { signal: shutdown.signal },
);
