// @ts-check
/**
 * Compares tenure with client-go on one kube-apiserver. Prints a Markdown table or JSON lines; progress goes to stderr.
 *
 *     npm run bench -- [--only NAME]… [--rounds N] [--json]
 */
import { cpus, loadavg } from "node:os";
import { parseArgs } from "node:util";
import { startCluster } from "../test/kube/cluster.mjs";
import { Api } from "./lib/api.mjs";
import { CandidateProcesses, electionPrograms } from "./lib/candidates.mjs";
import { jsonLine, markdownTable, notes } from "./lib/figures.mjs";
import { leaseRate } from "./lib/metrics.mjs";
import { crash } from "./scenarios/crash.mjs";
import { floor } from "./scenarios/floor.mjs";
import { graceful } from "./scenarios/graceful.mjs";
import { idle } from "./scenarios/idle.mjs";
import { outage } from "./scenarios/outage.mjs";
import { start } from "./scenarios/start.mjs";
import { thousand } from "./scenarios/thousand.mjs";

const scenarios = [floor, start, graceful, crash, idle, outage, thousand];
const { values } = parseArgs({
  options: {
    only: { type: "string", multiple: true, default: [] },
    rounds: { type: "string" },
    json: { type: "boolean", default: false },
  },
});
const rounds = values.rounds === undefined ? undefined : Number(values.rounds);
const names = scenarios.map(({ name }) => name);
const unknown = values.only.filter((name) => !names.includes(name));
if (unknown.length > 0) fail(`--only must be one of ${names.join(", ")}: ${unknown.join(", ")}`);
if (rounds !== undefined && !(Number.isSafeInteger(rounds) && rounds > 0))
  fail(`--rounds must be a whole number, at least 1: ${values.rounds}`);
const chosen = scenarios.filter(({ name }) => values.only.length === 0 || values.only.includes(name));

const startedMs = performance.now();
/** @param {string} line */
const report = (line) =>
  console.error(`${((performance.now() - startedMs) / 1_000).toFixed(0).padStart(4)} s  ${line}`);

const cluster = await startCluster();
const api = new Api(cluster);
/** @type {CandidateProcesses | undefined} */
let candidates;
/** @type {import("./lib/figures.mjs").Figure[]} */
const figures = [];
let namespaces = 0;
/** As long as the windows it is subtracted from: the server renews its own Lease every 10 s. */
const baselineMs = 60_000;
/** @type {Promise<import("./lib/metrics.mjs").Rate> | undefined} */
let baseline;
try {
  const { clientGoVersion, commands } = await electionPrograms();
  candidates = await CandidateProcesses.create(cluster.kubeconfigPath, commands);
  const context = {
    api,
    cluster,
    candidates,
    rounds,
    report,
    baseline() {
      if (!baseline) report("measuring the API server's own Lease requests");
      baseline ??= leaseRate(api, baselineMs);
      return baseline;
    },
    /** @param {string} prefix */
    async namespace(prefix) {
      namespaces += 1;
      const name = `${prefix}-${namespaces}`;
      await api.createNamespace(name);
      return name;
    },
  };
  const { gitVersion } = await api.json("GET", "/version");
  const machine = `kube-apiserver ${gitVersion}, client-go ${clientGoVersion}, node ${process.version}, ${cpus().length} cores, load ${load()} at the start`;
  report(machine);
  const died = cluster.died.then((error) => {
    throw error;
  });
  died.catch(() => {});
  for (const scenario of chosen) {
    /** @type {import("./lib/figures.mjs").Figure[]} */
    let measured = [];
    try {
      measured = await Promise.race([scenario.run(context), died]);
    } catch (error) {
      // The other scenarios still give useful figures.
      report(`${scenario.name} failed: ${error instanceof Error ? error.stack : error}`);
      process.exitCode = 1;
      await candidates.killAll();
    }
    figures.push(...measured);
    if (values.json) for (const figure of measured) console.log(jsonLine(figure));
  }
  if (!values.json) {
    console.log(`${markdownTable(figures)}\n\n${notes(figures)}\n`);
    console.log(
      `${machine}, ${load()} at the end; ${((performance.now() - startedMs) / 60_000).toFixed(1)} minutes.`,
    );
  }
} finally {
  await candidates?.close();
  api.close();
  await cluster.stop();
}

function load() {
  return loadavg()[0]?.toFixed(1);
}

/** @param {string} message @returns {never} */
function fail(message) {
  console.error(message);
  process.exit(2);
}
