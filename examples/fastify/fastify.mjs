// A Fastify server on every replica. Only the leader is ready, and only the leader sends reports. Start it in two terminals:
//   PORT=3001 node examples/fastify/fastify.mjs a
import { setTimeout as sleep } from "node:timers/promises";
import { Election, LeaseLock } from "@tenure/election";
import fastify from "fastify";

const election = new Election({
  lock: new LeaseLock({ namespace: "default", name: "fastify" }),
  ...(process.argv[2] && { identity: process.argv[2] }),
});
election.on("error", ({ error }) => console.error(error.message));

const app = fastify();
app.get("/readyz", (_request, reply) =>
  reply.code(election.isLeader() ? 200 : 503).send({ leader: election.leader ?? null }),
);
app.get("/healthz", (_request, reply) => {
  const { healthy, message } = election.health();
  return reply.code(healthy ? 200 : 503).send({ message });
});
app.post("/reports", async (_request, reply) => {
  const result = await election.runIfLeader(sendReport);
  if (result.ran) return { completed: result.completed };
  return reply.code(503).send({ reason: result.reason, leader: election.leader ?? null });
});

// close() waits for the report that is being sent, and then for the release of the lease.
const timer = setInterval(() => election.runIfLeader(sendReport).catch(console.error), 500);
app.addHook("onClose", async () => {
  clearInterval(timer);
  await election.stop();
});
for (const name of ["SIGINT", "SIGTERM"]) process.once(name, () => app.close());

const address = await app.listen({ port: Number(process.env.PORT ?? 0), host: "127.0.0.1" });
console.log(`${election.identity} listens on ${new URL(address).port}`);
await election.run();

/** @param {import("@tenure/election").Term} term */
async function sendReport(term) {
  console.log(`${term.token} ${term.identity} starts a report`);
  for (let page = 0; page < 5; page += 1) {
    await sleep(80);
    if (!term.isValid()) break;
    console.log(`${term.token} ${term.identity} sends a page`);
  }
  console.log(`${term.token} ${term.identity} ends a report`);
}
