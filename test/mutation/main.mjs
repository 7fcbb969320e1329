/**
 * Mutation testing: plants small mistakes into a package, one at a time, and runs the tests that reach each of them. A mutant that
 * no test notices has survived: it shows a test that is missing, or code that nothing needs.
 *
 *     npm run mutation -- --package core --sample 500 --seed 1
 *     npm run mutation -- --package kube --file http/pool.ts --line 40
 */
import { parseArgs } from "node:util";
import { reportOf } from "./report.mjs";
import { measureTests, tryMutants } from "./run.mjs";
import { chooseMutants } from "./selection.mjs";

const { values: options } = parseArgs({
  options: {
    package: { type: "string", multiple: true, default: ["core", "election", "kube"] },
    /** How many mutants to try, drawn with the seed. Without it, all of them. */
    sample: { type: "string" },
    seed: { type: "string", default: "1" },
    file: { type: "string" },
    line: { type: "string" },
    /** Numbers of mutants, as a report prints them, with commas in between. */
    id: { type: "string" },
    /** A part of the path of the test files that count. */
    tests: { type: "string" },
    workers: { type: "string", default: "2" },
    /** Fails if a smaller share of the mutants is killed, in %. */
    "at-least": { type: "string" },
    verbose: { type: "boolean", default: false },
  },
});

let failed = false;
for (const name of options.package) {
  const startedAt = performance.now();
  const chosen = chooseMutants(name, options);
  const workers = Number(options.workers);
  const tests = await measureTests(name, chosen, { workers, only: options.tests });
  const results = await tryMutants(chosen, tests, workers);
  const seconds = (performance.now() - startedAt) / 1_000;
  const { rate, lines } = reportOf({ name, chosen, results, seconds, verbose: options.verbose });
  console.log(lines.join("\n"));
  if (rate < Number(options["at-least"] ?? 0)) failed = true;
}
process.exitCode = failed ? 1 : 0;
