// An application without election code: it asks the sidecar beside it whether it leads, and works only if it does.
//   TENURE_URL=http://127.0.0.1:4040 node examples/sidecar/app.mjs
import { setTimeout as sleep } from "node:timers/promises";

const url = process.env.TENURE_URL ?? "http://127.0.0.1:4040";
const askEveryMs = 200;

let token;
/** Until when this process may work without another answer. */
let untilMs = 0;
const mayWork = () => performance.now() < untilMs;

async function ask() {
  // Count from before the request, not from after the answer: the remaining time was measured in between.
  const askedMs = performance.now();
  const answer = await fetch(`${url}/leader`, { signal: AbortSignal.timeout(1_000) });
  const status = await answer.json();
  token = status.token;
  untilMs = status.isLeader ? askedMs + status.leaseSecondsLeft * 1_000 : 0;
}

const print = (what) => console.log(JSON.stringify({ at: Date.now(), what, token }));

async function work() {
  // Send the token with every write: storage that remembers the highest token rejects a stale leader.
  print("working");
  await sleep(100);
}

let wasWorking = false;
for (;;) {
  // If the sidecar does not answer, continue until the time of its last answer is over.
  await ask().catch(() => {});
  if (mayWork()) await work();
  else if (wasWorking) print("stopped");
  wasWorking = mayWork();
  await sleep(askEveryMs);
}
