// @ts-check
// The whole system on this machine: a Kubernetes API, a gRPC server with orders, three replicas of `tenure run`, and what happens
// when the one that works is killed, frozen, cut off or told to step down. Ends clean, and leaves nothing running.
//   npm run demo                   live, with keys
//   npm run demo -- --script       plays them all and ends with a summary; also without a terminal
//   npm run demo -- --rate 500 --lease 15
import { constants } from "node:os";
import { parseArgs } from "node:util";
import { live } from "./live.mjs";
import { script } from "./script.mjs";
import { summaryLines } from "./summary.mjs";
import { System } from "./system.mjs";
import { clock } from "./view.mjs";

const { values } = parseArgs({
  options: {
    script: { type: "boolean", default: false },
    rate: { type: "string", default: "100" },
    lease: { type: "string", default: "3" },
  },
});
const rate = Number(values.rate);
const leaseSeconds = Number(values.lease);
if (!(rate > 0) || !(Number.isInteger(leaseSeconds) && leaseSeconds >= 2)) {
  console.error(
    `--rate must be more than 0 and --lease a whole number of seconds from 2: ${values.rate}, ${values.lease}`,
  );
  process.exit(2);
}

const isLive = !values.script && process.stdin.isTTY && process.stdout.isTTY;
const startedMs = performance.now();
/** @type {string[]} */
const notes = [];
const say = (/** @type {string} */ line) => {
  const stamped = `${clock(performance.now() - startedMs)}  ${line}`;
  if (isLive) notes.push(stamped);
  else console.log(stamped);
};

const system = new System({ rate, leaseSeconds, log: say });
const interrupt = new AbortController();
let exitCode = 0;
const end = (/** @type {number} */ code) => {
  if (interrupt.signal.aborted) return;
  exitCode = code;
  interrupt.abort();
  system.end();
};
for (const name of /** @type {const} */ (["SIGINT", "SIGTERM", "SIGHUP"])) {
  process.on(name, () => end(128 + constants.signals[name]));
}
// Whoever reads this may stop reading; the replicas must end all the same.
process.stdout.on("error", () => end(1));
process.on("uncaughtException", (error) => {
  console.error(error);
  end(1);
});

try {
  await system.start();
  if (isLive) await live(system, startedMs, { signal: interrupt.signal, notes });
  else await script(system, say);
  if (!interrupt.signal.aborted) await system.settle();
  const summary = await system.summary();
  for (const line of summaryLines(summary, performance.now() - startedMs)) console.log(line);
  // An interrupted run has orders that nobody had the time to finish.
  if (!interrupt.signal.aborted && (summary.lost > 0 || summary.twice > 0)) exitCode = 1;
} catch (error) {
  // What was under way when it was interrupted fails, and is no news.
  if (!interrupt.signal.aborted) {
    console.error(error instanceof Error ? error.message : error);
    exitCode = 1;
  }
} finally {
  await system.close();
}
const leftovers = system.leftovers();
console.log(leftovers.length === 0 ? "nothing is left running" : `still running: ${leftovers.join(", ")}`);
process.exit(leftovers.length === 0 ? exitCode : 1);
