// @ts-check
// `npm run spec`: checks the specifications in spec/ with TLC, that TLC finds every planted mistake, and that simulated
// histories are behaviours of the specification.
import { spawnSync } from "node:child_process";
import { availableParallelism } from "node:os";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { bugs, mistakes, scopes } from "../spec/runs.mjs";
import { cleanUp, prepareTlc, runTlc } from "../spec/tlc.mjs";

/** @typedef {import("../spec/runs.mjs").Run} Run */
/** @typedef {import("../spec/tlc.mjs").Job} Job */
/** @typedef {import("../spec/tlc.mjs").Result} Result */
/** @typedef {{ title: string, job: (workers: number) => Job, isExpected: (outcome: string) => boolean }} Check */

const usage = `Usage: npm run spec -- [--large] [--traces N] [--from S]

Checks the specifications in spec/ with the model checker TLC:
1. No state of a small scope has two leaders.
2. With one rule broken, TLC finds a violation.
3. Simulated histories are behaviours of the specification; histories of a simulator with a bug are not.
Prints one line per run, and exits with 1 if a result is not as expected. Build first: npm run build.

  --large      also check the large scopes, for several minutes
  --traces N   how many simulated histories to check (default 6)
  --from S     the seed of the first simulated history (default 1)
`;

const traceMain = fileURLToPath(new URL("../packages/simulator/dist/trace/main.js", import.meta.url));

/** @param {string} message @returns {never} */
function fail(message) {
  console.error(message);
  process.exit(2);
}

/** @param {Record<string, string | number>} constants */
const assign = (constants) => Object.entries(constants).map(([name, value]) => `  ${name} = ${value}`);

/** @param {Run} run @returns {readonly string[]} */
function configOf({ spec, constants }) {
  const lines = ["SPECIFICATION Spec", "VIEW View", "INVARIANT MutualExclusion"];
  // Processes with different leases are not interchangeable.
  const { Slow: slow = "{}" } = constants;
  if (slow === "{}") lines.push("SYMMETRY Symmetry");
  if (spec === "Lease") lines.push("PROPERTY TokensGrow");
  lines.push("CONSTANTS", "  a = a", "  b = b", "  c = c", ...assign(constants));
  if (spec === "Lease")
    lines.push("  Lease <- LeaseOf", "  WaitsWhenAbsent <- Waits", "  Send <- CheckedSend");
  return lines;
}

/** @param {Run} run @param {Check["isExpected"]} isExpected @returns {Check} */
const checkOfRun = (run, isExpected) => ({
  title: `${run.spec}: ${run.name}`,
  job: (workers) => ({
    modules: [run.spec, `${run.spec}Check`],
    config: configOf(run),
    workers,
    isLarge: run.isLarge ?? false,
  }),
  isExpected,
});

const traceConfig = [
  "SPECIFICATION TraceSpec",
  "INVARIANT NeverTwo",
  "CONSTANTS",
  "  Procs <- AllProcs",
  "  Lease <- LeaseOf",
  "  Longest <- LongestLease",
  "  WaitsWhenAbsent <- Waits",
  '  Events = {"restart", "annotate", "delete-unseen"}',
  "  MaxVersion = 1000000",
  '  Mistake = "none"',
];

/** The histories as a TLA+ module. @param {number} from @param {number} count @param {string | undefined} bug */
function simulate(from, count, bug) {
  const args = [traceMain, "--from", String(from), "--count", String(count), ...(bug ? ["--bug", bug] : [])];
  const { status, stdout } = spawnSync(process.execPath, args, {
    encoding: "utf8",
    maxBuffer: 1024 * 1024 * 1024,
    stdio: ["ignore", "pipe", "inherit"],
  });
  if (status !== 0) fail("Cannot simulate histories. Build first: npm run build.");
  return stdout;
}

/** @param {string} title @param {number} from @param {number} count @param {Check["isExpected"]} isExpected @param {string} [bug] @returns {Check} */
const checkOfTraces = (title, from, count, isExpected, bug) => ({
  title,
  job: (workers) => ({
    modules: ["Lease", "LeaseTrace"],
    texts: { Histories: simulate(from, count, bug) },
    config: traceConfig,
    workers,
    findsDeadlocks: true,
  }),
  isExpected,
});

let wrong = 0;

/** @param {Check} check @param {Result} result */
function report({ title, isExpected }, { outcome, states, depth, seconds, output }) {
  const verdict = isExpected(outcome) ? outcome : `WRONG: ${outcome}`;
  const scope = `${states.padStart(9)} states, depth ${depth.padStart(4)}, ${seconds.toFixed(1).padStart(6)} s`;
  console.log(`${title.padEnd(56)} ${scope}  ${verdict}`);
  if (isExpected(outcome)) return;
  wrong += 1;
  console.log(output);
}

/** @param {readonly Check[]} checks @param {number} atOnce */
async function runAll(checks, atOnce) {
  const queue = [...checks];
  const workers = Math.max(1, Math.floor(availableParallelism() / atOnce));
  const next = async () => {
    for (let check = queue.shift(); check; check = queue.shift())
      report(check, await runTlc(check.job(workers)));
  };
  await Promise.all(Array.from({ length: atOnce }, next));
}

const { values } = parseArgs({
  options: {
    large: { type: "boolean", default: false },
    traces: { type: "string", default: "6" },
    from: { type: "string", default: "1" },
    help: { type: "boolean", default: false },
  },
});
if (values.help) {
  console.log(usage);
  process.exit(0);
}
const traces = Number(values.traces);
const from = Number(values.from);
if (!Number.isInteger(traces) || traces < 0) fail(`--traces must be a whole number: ${values.traces}`);
if (!Number.isInteger(from) || from < 1) fail(`--from must be a positive whole number: ${values.from}`);
const problem = prepareTlc();
if (problem) fail(problem);
for (const signal of ["SIGINT", "SIGTERM"]) {
  process.on(signal, () => {
    cleanUp();
    process.exit(1);
  });
}

const startedMs = performance.now();
/** @param {readonly Run[]} runs */
const wanted = (runs) => runs.filter(({ isLarge }) => !isLarge || values.large);
/** @type {Check["isExpected"]} */
const isHeld = (outcome) => outcome === "held";
/** @type {Check["isExpected"]} */
const isFound = (outcome) => outcome.startsWith("found");
const atOnce = Math.min(2, availableParallelism());

console.log("every rule kept: TLC must visit all states and find no violation");
await runAll(
  wanted(scopes).map((run) => checkOfRun(run, isHeld)),
  1,
);
console.log("\none rule broken: TLC must find a violation");
await runAll(
  wanted(mistakes).map((run) => checkOfRun(run, isFound)),
  atOnce,
);
if (traces > 0) {
  console.log(
    "\nsimulated histories: TLC must accept every step, and reject a step of a simulator with a bug",
  );
  await runAll(
    [
      checkOfTraces(`${traces} histories from seed ${from}`, from, traces, isHeld),
      ...bugs.map(({ name, histories }) =>
        checkOfTraces(`bug ${name}: ${histories} histories`, from, histories, isFound, name),
      ),
    ],
    atOnce,
  );
}
const seconds = ((performance.now() - startedMs) / 1_000).toFixed(0);
console.log(`\n${wrong === 0 ? "all as expected" : `${wrong} not as expected`}, ${seconds} s`);
process.exitCode = wrong === 0 ? 0 : 1;
