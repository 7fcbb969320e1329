// @ts-check
/**
 * Kubernetes' own conformance specs on clusters of tenure.
 *
 *   npm run test:e2e                                            # every group on every target
 *   npm run test:e2e -- --target tenure --group api,workloads
 *   npm run test:e2e -- --target tenure --match "ReplicaSet"    # specs whose name contains this
 *   npm run test:e2e -- --keep                                  # keep the logs
 *
 * It exits with 1 if a spec fails.
 */
import { parseArgs } from "node:util";
import { findPrograms } from "./programs.mjs";
import { runSpecs } from "./run-specs.mjs";
import { groups } from "./specs.mjs";
import { table } from "./table.mjs";
import { startTarget, targetNames } from "./targets.mjs";

/** Two of tenure's parts run on other people's: there, only what depends on controllers and scheduler is of interest. */
const groupsOf = /** @type {Record<string, string[]>} */ ({
  tenure: ["api", "workloads", "pods", "services"],
  "kubernetes-controllers": ["api", "workloads"],
  "kube-apiserver": ["workloads"],
});

const { values } = parseArgs({
  options: {
    target: { type: "string", default: targetNames.join(",") },
    group: { type: "string" },
    match: { type: "string", default: "" },
    processes: { type: "string", default: "3" },
    keep: { type: "boolean", default: false },
  },
});

/** @param {string} what @param {string[]} given @param {string[]} known */
function choose(what, given, known) {
  const wrong = given.find((name) => !known.includes(name));
  if (wrong === undefined) return given;
  console.error(`There is no ${what} ${JSON.stringify(wrong)}: choose from ${known.join(", ")}`);
  process.exit(2);
}

const targets = choose("target", values.target.split(","), targetNames);
const groupNames = groups.map(({ name }) => name);
const chosen = values.group === undefined ? undefined : choose("group", values.group.split(","), groupNames);
const processes = Number(values.processes);
if (!Number.isInteger(processes) || processes < 1) {
  console.error(`--processes must be a whole number from 1: ${JSON.stringify(values.processes)}`);
  process.exit(2);
}
const programs = await findPrograms();
let failed = 0;
const interruption = new AbortController();
let interrupt = async () => {};
for (const signal of /** @type {const} */ (["SIGINT", "SIGTERM"])) {
  process.once(signal, () => {
    interruption.abort();
    void interrupt();
  });
}

for (const name of targets) {
  const names = chosen ?? groupsOf[name] ?? [];
  for (const { name: groupName, about, specs, cannot = {} } of groups.filter((group) =>
    names.includes(group.name),
  )) {
    const matching = specs.filter((spec) => spec.includes(values.match));
    if (matching.length === 0) continue;
    if (interruption.signal.aborted) break;
    const target = await startTarget(name, programs);
    interrupt = target.interrupt;
    let failures = 1;
    try {
      const { kubeconfig, folder, run } = target;
      const results = await runSpecs({
        program: programs.endToEnd,
        kubeconfig,
        specs: matching,
        folder,
        processes,
        signal: interruption.signal,
        run,
      });
      failures = results.filter(({ outcome }) => outcome !== "passed").length;
      console.log(table(`${name}, ${groupName} (${about})`, results, values.match ? {} : cannot));
      failed += failures;
    } finally {
      const keepLogs = values.keep || failures > 0;
      await target.stop({ keepLogs });
      if (keepLogs) console.log(`The logs are in ${target.folder}`);
    }
  }
}
process.exitCode = failed === 0 && !interruption.signal.aborted ? 0 : 1;
