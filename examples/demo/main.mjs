// @ts-check
// Runs the whole system on this machine. `npm run demo -- --help` says more.
import { constants } from "node:os";
import { parseArgs } from "node:util";
import { messageOf } from "@tenure/base";
import { runCluster } from "./cluster.mjs";
import { runInteractive } from "./interactive.mjs";
import { runScript } from "./scripted.mjs";
import { summaryLines } from "./summary.mjs";
import { System } from "./system.mjs";
import { clock } from "./view.mjs";

const help = `Runs the whole system on this machine: a Kubernetes API, a gRPC server with orders, and three replicas of tenure run. Shows
what happens when the leader is killed, frozen, cut off or told to step down. Stops every process at the end.

  npm run demo                           interactive: press a key to inject a fault
  npm run demo -- --script               injects all faults and prints a summary; the default without a terminal
  npm run demo -- --cluster              the same as a Deployment in the sandbox, with kubectl beside it
  npm run demo -- --rate 500 --lease 15  500 orders a second (default 100), leases of 15 seconds (default 3)
  npm run demo -- --record demo.ndjson   records the election, for tenure ui --open`;

const { values } = readFlags();
if (values.help) {
  console.log(help);
  process.exit();
}

function readFlags() {
  try {
    return parseArgs({
      options: {
        help: { type: "boolean", short: "h", default: false },
        script: { type: "boolean", default: false },
        cluster: { type: "boolean", default: false },
        rate: { type: "string", default: "100" },
        lease: { type: "string", default: "3" },
        record: { type: "string" },
      },
    });
  } catch (error) {
    console.error(`${messageOf(error)}\n\n${help}`);
    process.exit(2);
  }
}

const rate = Number(values.rate);
const leaseSeconds = Number(values.lease);
if (!(rate > 0) || !(Number.isInteger(leaseSeconds) && leaseSeconds >= 2)) {
  console.error(
    `--rate must be greater than 0, and --lease a whole number of seconds, at least 2: got --rate ${values.rate} --lease ${values.lease}`,
  );
  process.exit(2);
}

const isInteractive = !values.script && process.stdin.isTTY && process.stdout.isTTY;
const startedMs = performance.now();
/** @type {string[]} */
const notes = [];
const print = (/** @type {string} */ line) => {
  const stamped = `${clock(performance.now() - startedMs)}  ${line}`;
  if (isInteractive) notes.push(stamped);
  else console.log(stamped);
};

if (values.cluster) {
  const interrupt = new AbortController();
  for (const name of /** @type {const} */ (["SIGINT", "SIGTERM", "SIGHUP"]))
    process.on(name, () => interrupt.abort());
  const isDone = await runCluster({
    rate,
    signal: interrupt.signal,
    isScript: values.script || !process.stdin.isTTY,
    print: (line) => console.log(`${clock(performance.now() - startedMs)}  ${line}`),
  });
  process.exit(isDone ? 0 : 1);
}

const { record } = values;
const system = new System({ rate, leaseSeconds, log: print, ...(record !== undefined && { record }) });
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
// The reader of stdout may go away. The replicas must be stopped even then.
process.stdout.on("error", () => end(1));
process.on("uncaughtException", (error) => {
  console.error(error);
  end(1);
});

try {
  await system.start();
  if (system.page) print(`see the terms at ${system.page.url}`);
  if (isInteractive) await runInteractive(system, startedMs, { signal: interrupt.signal, notes });
  else await runScript(system, print);
  if (!interrupt.signal.aborted) await system.settle();
  const summary = await system.summary();
  for (const line of summaryLines(summary, performance.now() - startedMs)) console.log(line);
  // An interrupted run leaves orders unfinished; they are not lost.
  if (!interrupt.signal.aborted && (summary.lost > 0 || summary.twice > 0)) exitCode = 1;
} catch (error) {
  // An interrupt makes pending operations fail; those errors are expected.
  if (!interrupt.signal.aborted) {
    console.error(error instanceof Error ? error.message : error);
    exitCode = 1;
  }
} finally {
  await system.close();
}
const leftovers = system.leftovers();
console.log(leftovers.length === 0 ? "all processes have exited" : `still running: ${leftovers.join(", ")}`);
process.exit(leftovers.length === 0 ? exitCode : 1);
