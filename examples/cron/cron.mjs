// Of all running copies of this program, exactly one runs the jobs of node-cron. A job that runs when the leader is stopped is finished
// first; only then can another copy lead and start the next one. Start it in three terminals, then stop the leader.
//   node examples/cron/cron.mjs NAME
import { setTimeout as sleep } from "node:timers/promises";
import { Election, LeaseLock } from "@tenure/election";
import cron from "node-cron";

const shutdown = new AbortController();
for (const name of ["SIGINT", "SIGTERM"]) process.once(name, () => shutdown.abort());

const election = new Election({
  lock: new LeaseLock({ namespace: "default", name: "reports" }),
  ...(process.argv[2] && { identity: process.argv[2] }),
});
election.on("error", ({ error }) => console.error(error.message));

// node-cron asks before each job whether it may run, and tells when it has ended, even if it failed. In between, a task keeps the lease.
/** @type {Map<string, () => void>} */
const running = new Map();
cron.setRunCoordinator({
  async shouldRun(key) {
    const { promise, resolve } = newPromise();
    const task = election.runIfLeader(() => {
      const ended = newPromise();
      running.set(key, () => ended.resolve(true));
      resolve(true);
      return ended.promise;
    });
    task.then(({ ran }) => resolve(ran));
    return promise;
  },
  onComplete(key) {
    running.get(key)?.();
    running.delete(key);
  },
});

cron.schedule(
  "* * * * * *",
  async () => {
    console.log(`${election.identity} starts a report`);
    // Longer than a handover takes. A job that can be interrupted would also look at election.term?.signal.
    await sleep(1_500);
    console.log(`${election.identity} has sent the report`);
  },
  { name: "report", distributed: true, noOverlap: true },
);

await election.run({ signal: shutdown.signal });
await cron.shutdown();

/** @returns {{ promise: Promise<boolean>, resolve: (value: boolean) => void }} */
function newPromise() {
  /** @type {(value: boolean) => void} */
  let resolve = () => {};
  const promise = new Promise((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
}
