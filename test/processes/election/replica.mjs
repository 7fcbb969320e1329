// One replica of an election, on the built package. It prints what happens to stdout, one JSON object per line, and reads
// commands from stdin: `block MS` blocks the event loop for that long, `step-down` gives up leadership.
import { writeSync } from "node:fs";
import { createInterface } from "node:readline";
import { Election, LeaseLock } from "@tenure/election";

const { lock, work = {}, ...options } = JSON.parse(process.argv[2]);
const print = (what, facts = {}) =>
  writeSync(1, `${JSON.stringify({ what, at: Date.now(), id: options.identity, ...facts })}\n`);
const sleep = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

const election = new Election({ ...options, lock: new LeaseLock(lock) });
election.on("term-ended", ({ reason, released }) => print("ended", { reason, released }));
election.on("leader-changed", ({ leader }) => print("leader", { leader }));
election.on("overrun", () => print("overrun"));
election.on("error", ({ error }) => print("error", { message: error.message }));

const commands = createInterface({ input: process.stdin });
commands.on("line", (line) => {
  const [command, ms] = line.split(" ");
  if (command === "step-down") election.stepDown();
  if (command !== "block") return;
  print("blocked");
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, Number(ms));
  print("unblocked", { isValid: election.term?.isValid() ?? false });
});

const shutdown = new AbortController();
process.once("SIGTERM", () => shutdown.abort());

await election.run(
  async (term) => {
    print("works", { token: String(term.token) });
    term.signal.addEventListener("abort", () =>
      print("asked to stop", { reason: term.signal.reason.reason }),
    );
    // Correct work checks its term before each action. The test sees when it acted.
    while (!term.signal.aborted || work.ignoresItsSignal) {
      if (term.isValid()) print("acts");
      await sleep(20);
    }
    await sleep(work.stopsAfterMs ?? 0);
    print("stopped");
  },
  { signal: shutdown.signal },
);
print("resolved");
commands.close();
process.stdin.destroy();
