// One replica, on the built package: leads, works, and says on stdout what happens, one line each. Its stdin takes orders:
// `block MS` keeps its event loop busy for so long, `step-down` gives the leadership up.
import { writeSync } from "node:fs";
import { createInterface } from "node:readline";
import { Election, LeaseLock } from "@tenure/election";

const { lock, work = {}, ...options } = JSON.parse(process.argv[2]);
const say = (what, facts = {}) =>
  writeSync(1, `${JSON.stringify({ what, at: Date.now(), id: options.identity, ...facts })}\n`);
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

const election = new Election({ ...options, lock: new LeaseLock(lock) });
election.on("term-ended", ({ reason, released }) => say("ended", { reason, released }));
election.on("leader-changed", ({ leader }) => say("leader", { leader }));
election.on("overrun", () => say("overrun"));
election.on("error", ({ error }) => say("error", { message: error.message }));

const orders = createInterface({ input: process.stdin });
orders.on("line", (line) => {
  const [order, ms] = line.split(" ");
  if (order === "step-down") election.stepDown();
  if (order !== "block") return;
  say("blocked");
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, Number(ms));
  say("unblocked", { isValid: election.term?.isValid() ?? false });
});

const shutdown = new AbortController();
process.once("SIGTERM", () => shutdown.abort());

await election.run(
  async (term) => {
    say("works", { token: String(term.token) });
    term.signal.addEventListener("abort", () => say("told", { reason: term.signal.reason.reason }));
    // Work as it should be: it asks before it acts. An outside witness sees when it did.
    while (!term.signal.aborted || work.ignoresItsSignal) {
      if (term.isValid()) say("acts");
      await sleep(20);
    }
    await sleep(work.stopsAfterMs ?? 0);
    say("stopped");
  },
  { signal: shutdown.signal },
);
say("resolved");
orders.close();
process.stdin.destroy();
