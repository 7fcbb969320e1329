// @ts-check
// The election in a worker thread, beside work that blocks the event loop for longer than a renewal takes.
import { Election, LeaseLock } from "@tenure/election";
import { identity, job, lockOptions, shutdown } from "./work.mjs";

const election = new Election({ lock: new LeaseLock(lockOptions("worker")), identity, worker: true });
await election.run(
  async (term) => {
    while (term.isValid() && !term.signal.aborted) {
      await job(term);
      const untilMs = performance.now() + 700;
      while (performance.now() < untilMs) Math.sqrt(untilMs);
    }
  },
  { signal: shutdown.signal },
);
