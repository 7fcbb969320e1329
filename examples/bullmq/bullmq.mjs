// Workers of BullMQ on every replica share the jobs of a queue. This is for jobs that must not run at the same time, nor in another order:
// only the leader has a worker. Needs Redis. Start it in two terminals:
//   REDIS_PORT=6379 node examples/bullmq/bullmq.mjs a
import { setTimeout as sleep } from "node:timers/promises";
import { Election, LeaseLock } from "@tenure/election";
import { Queue, Worker } from "bullmq";

const connection = { host: "127.0.0.1", port: Number(process.env.REDIS_PORT ?? 6379) };
const shutdown = new AbortController();
for (const name of ["SIGINT", "SIGTERM"]) process.once(name, () => shutdown.abort());

const election = new Election({
  lock: new LeaseLock({ namespace: "default", name: "bullmq" }),
  ...(process.argv[2] && { identity: process.argv[2] }),
});
election.on("error", ({ error }) => console.error(error.message));

// Every replica may add jobs.
const queue = new Queue("reports", { connection });
const timer = setInterval(
  () => queue.add("report", {}, { removeOnComplete: true }).catch(console.error),
  500,
);

await election.run(
  async (term) => {
    const worker = new Worker("reports", () => sendReport(term), { connection });
    worker.on("error", (error) => console.error(error.message));
    await new Promise((resolve) => term.signal.addEventListener("abort", resolve, { once: true }));
    // Waits for the job that runs. It takes no further jobs.
    await worker.close();
  },
  { signal: shutdown.signal },
);
clearInterval(timer);
await queue.close();

/** @param {import("@tenure/election").Term} term */
async function sendReport(term) {
  console.log(`${term.token} ${term.identity} starts a report`);
  try {
    for (let page = 0; page < 5; page += 1) {
      await sleep(80);
      // The job fails here, and the next leader repeats it.
      if (!term.isValid()) throw new Error("another replica may lead");
      console.log(`${term.token} ${term.identity} sends a page`);
    }
  } finally {
    console.log(`${term.token} ${term.identity} ends a report`);
  }
}
