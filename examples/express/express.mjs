// An Express server on every replica. Only the leader is ready, and only the leader sends reports. Start it in two terminals:
//   PORT=3001 node examples/express/express.mjs a
import { setTimeout as sleep } from "node:timers/promises";
import { Election, LeaseLock } from "@tenure/election";
import express from "express";

const shutdown = new AbortController();
for (const name of ["SIGINT", "SIGTERM"]) process.once(name, () => shutdown.abort());

const election = new Election({
  lock: new LeaseLock({ namespace: "default", name: "express" }),
  ...(process.argv[2] && { identity: process.argv[2] }),
});
election.on("error", ({ error }) => console.error(error.message));

const app = express();
// For a readiness probe. A Service then sends requests only to the leader.
app.get("/readyz", (_request, response) => {
  response.status(election.isLeader() ? 200 : 503).json({ leader: election.leader ?? null });
});
// For a liveness probe.
app.get("/healthz", (_request, response) => {
  const { healthy, message } = election.health();
  response.status(healthy ? 200 : 503).json({ message });
});
// The lease is not released before the report has been sent, even if the process is told to stop meanwhile.
app.post("/reports", async (_request, response) => {
  const result = await election.runIfLeader(sendReport);
  if (result.ran) response.json({ completed: result.completed });
  else response.status(503).json({ reason: result.reason, leader: election.leader ?? null });
});
const server = app.listen(Number(process.env.PORT ?? 0), "127.0.0.1", () => {
  const address = server.address();
  console.log(`${election.identity} listens on ${typeof address === "object" && address?.port}`);
});

const timer = setInterval(() => election.runIfLeader(sendReport).catch(console.error), 500);
await election.run({ signal: shutdown.signal });
clearInterval(timer);
server.close();

/** @param {import("@tenure/election").Term} term */
async function sendReport(term) {
  console.log(`${term.token} ${term.identity} starts a report`);
  for (let page = 0; page < 5; page += 1) {
    await sleep(80);
    // After a pause of the process, another replica may lead. A storage that checks the token makes this airtight.
    if (!term.isValid()) break;
    console.log(`${term.token} ${term.identity} sends a page`);
  }
  console.log(`${term.token} ${term.identity} ends a report`);
}
