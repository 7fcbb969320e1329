// An application without any election code: it asks the sidecar beside it whether it leads, and works only then.
//   TENURE_URL=http://127.0.0.1:4040 node examples/sidecar/app.mjs
import { setTimeout as sleep } from "node:timers/promises";

const url = process.env.TENURE_URL ?? "http://127.0.0.1:4040";
const askEveryMs = 200;

let token;
/** Until when this process may work if it hears nothing more. */
let untilMs = 0;
const mayWork = () => performance.now() < untilMs;

async function ask() {
  // From before the question, not from after the answer: what was left then can only have become less.
  const askedMs = performance.now();
  const answer = await fetch(`${url}/leader`, { signal: AbortSignal.timeout(1_000) });
  const status = await answer.json();
  token = status.token;
  untilMs = status.isLeader ? askedMs + status.leaseSecondsLeft * 1_000 : 0;
}

const say = (what) => console.log(JSON.stringify({ at: Date.now(), what, token }));

async function work() {
  // A storage that remembers the highest token it saw refuses whoever has not noticed yet that it lost.
  say("working");
  await sleep(100);
}

let wasWorking = false;
for (;;) {
  // A sidecar that does not answer is no reason to stop: the time that it promised is.
  await ask().catch(() => {});
  if (mayWork()) await work();
  else if (wasWorking) say("stopped");
  wasWorking = mayWork();
  await sleep(askEveryMs);
}
