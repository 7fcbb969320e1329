// @ts-check
/** `npm run chaos`: injects faults into real processes, records what their work does, and judges the history. */
import { createReadStream } from "node:fs";
import { rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { createInterface } from "node:readline";
import { parseArgs } from "node:util";
import { readHistory } from "./history/history.mjs";
import { judge } from "./history/judge.mjs";
import { readObjectHistory } from "./objects/history.mjs";
import { judgeObjects } from "./objects/judge.mjs";
import { ChaosRecording } from "./recording.mjs";
import { isGood, printObjects, printObserved, printVerdict, summaryOf } from "./report.mjs";
import { runChaos } from "./run.mjs";
import { targets } from "./targets.mjs";

const usage = `Usage: npm run chaos -- [--minutes M] [--target NAME,…] [--seed S] [--replicas N] [--history FILE] [--record FILE]
       npm run chaos -- --judge FILE

Runs N replicas (default 5) on the library and on \`tenure run\`, whose work writes to two registers with its fencing token:
one refuses older tokens, the other one accepts everything. Injects random faults: kill -9, freezes, a blocked event loop, a
slow, reset or partitioned network, restarts of the API server, deleted leases, and clock changes (if libfaketime is
installed). The seed determines the faults.

  sandbox      the API server of tenure sandbox (default)
  kube         a real kube-apiserver and etcd, which is also restored from snapshots
  postgres     the lock in PostgreSQL, which is restarted, drops its connections, and has its row blocked
  etcd         the lock in an etcd with three members, of which some are killed or frozen
  two-servers  two kube-apiservers on one etcd; candidates use both, and one is killed, frozen or cut off
  etcd-servers three \`tenure sandbox\` on an etcd with three members; servers and members are killed and frozen, also most
               members at once, while clients write, read, list and watch objects through all servers

The history is kept in FILE (default: in the folder for temporary files), and judged at the end: overlapping work, tokens out
of order, stale and lost writes, reads of values that nobody wrote, work after the end of a term. --judge judges a history
again. On etcd-servers also: lost writes to objects, revisions that go back, changes that a watch missed, and errors that are
late or do not name the cause. --record also writes a recording to look at with tenure ui --open. The exit code is 1 on any of these, on an orphan or a leak, and if there is no leader at the end.
`;

const { values } = parseArgs({
  options: {
    minutes: { type: "string", default: "1" },
    target: { type: "string", default: "sandbox" },
    seed: { type: "string", default: String(Date.now() % 1_000_000) },
    replicas: { type: "string", default: "5" },
    history: { type: "string" },
    record: { type: "string" },
    judge: { type: "string" },
    help: { type: "boolean", default: false },
  },
});
if (values.help) {
  console.log(usage);
  process.exit(0);
}

/** @param {"minutes" | "seed" | "replicas"} name */
function positive(name) {
  const value = Number(values[name]);
  if (!(value > 0) || !Number.isFinite(value))
    fail(`--${name} must be a number greater than 0: ${values[name]}`);
  return value;
}

/** @param {string} message @returns {never} */
function fail(message) {
  console.error(`${message}. \`npm run chaos -- --help\` lists the options.`);
  process.exit(2);
}

/** @param {string} path */
async function judgeFile(path) {
  const history = await readHistory(createInterface({ input: createReadStream(path) }));
  const verdict = judge(history);
  printVerdict(history, verdict);
  const objects = judgeObjects(await readObjectHistory(createInterface({ input: createReadStream(path) })));
  if (objects.requests > 0) printObjects(objects);
  return { history, verdict, objects };
}

if (values.judge !== undefined) {
  const { history, verdict, objects } = await judgeFile(values.judge);
  console.log(summaryOf(history.run?.target ?? values.judge, verdict, undefined, objects));
  process.exit(isGood(verdict, undefined, objects) ? 0 : 1);
}

const [minutes, seed, count] = [positive("minutes"), positive("seed"), positive("replicas")];
const names = values.target.split(",");
const unknown = names.find((name) => !(name in targets));
if (unknown !== undefined) fail(`--target must be one of ${Object.keys(targets).join(", ")}: ${unknown}`);
if (values.history !== undefined && names.length > 1) fail("--history is for one target");
if (values.record !== undefined && names.length > 1) fail("--record is for one target");

const startedMs = performance.now();
const log = (/** @type {string} */ text) =>
  console.error(`${((performance.now() - startedMs) / 1_000).toFixed(1).padStart(7)}s  ${text}`);
/** @type {string[]} */
const summaries = [];
let exitCode = 0;
for (const targetName of names) {
  const historyPath = resolve(values.history ?? join(tmpdir(), `tenure-chaos-${targetName}-${seed}.ndjson`));
  await rm(historyPath, { force: true });
  log(`seed ${seed}, ${minutes} min on ${targetName}, ${count} replicas, history in ${historyPath}`);
  const recording =
    values.record === undefined ? undefined : new ChaosRecording(resolve(values.record), "chaos");
  const observed = await runChaos({ targetName, minutes, seed, count, historyPath, recording, log });
  console.log(`target        ${targetName}, seed ${seed}, ${minutes} min, ${count} replicas`);
  printObserved(observed);
  const { history, verdict, objects } = await judgeFile(historyPath);
  await recording?.finish(history);
  if (recording) console.log(`recording     ${values.record} (look at it with tenure ui --open)`);
  console.log(`history       ${historyPath} (judge it again with --judge)`);
  summaries.push(summaryOf(targetName, verdict, observed, objects));
  if (!isGood(verdict, observed, objects)) exitCode = 1;
}
for (const summary of summaries) console.log(summary);
process.exit(exitCode);
