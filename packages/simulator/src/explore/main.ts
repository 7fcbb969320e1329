/** `npm run explore`: searches every history of small worlds for a violation of a guarantee. */
import { join } from "node:path";
import { parseArgs } from "node:util";
import { Worker } from "node:worker_threads";
import { bugs } from "../bugs.ts";
import { copyPackages } from "../copy-packages.ts";
import { beyondTheSearch, longScopes, type NamedScope, shortScopes } from "./scopes.ts";
import type { SearchResult } from "./search.ts";

const usage = `Usage: npm run explore -- [--supervisor] [--long] [--all-bugs] [--bug NAME]

Searches every interleaving of two or three candidates that run the real state machine of core, in discrete time, with a bounded
number of delays, lost messages, crashes, deletions, stops and clock jumps. Exit 1 on a violation, with the shortest history.

  --supervisor search the histories of one supervised child instead: its term, its watchdog, its gates and its end
  --long       larger scopes, which take about half an hour
  --all-bugs   plant each known mistake in turn; exit 0 if the search finds every mistake that its scopes can show
  --bug NAME   plant this one
`;

function explore(
  scope: NamedScope,
  worker: string | URL = new URL("./worker.js", import.meta.url),
): Promise<SearchResult> {
  return new Promise((resolve, reject) => {
    const thread = new Worker(worker, {
      workerData: { scope },
      resourceLimits: { maxOldGenerationSizeMb: 12_000 },
    });
    thread.once("message", resolve);
    thread.once("error", reject);
  });
}

async function searchAll(scopes: readonly NamedScope[]): Promise<number> {
  console.log(
    `${"scope".padEnd(44)} ${"states".padStart(10)} ${"transitions".padStart(12)} ${"depth".padStart(6)} ${"seconds".padStart(8)}`,
  );
  for (const scope of scopes) {
    const startedMs = performance.now();
    const { states, transitions, depth, violation } = await explore(scope);
    const seconds = ((performance.now() - startedMs) / 1_000).toFixed(1);
    console.log(
      `${scope.name.padEnd(44)} ${String(states).padStart(10)} ${String(transitions).padStart(12)} ${String(depth).padStart(6)} ${seconds.padStart(8)}`,
    );
    if (!violation) continue;
    console.log(`\n${violation.message}`);
    for (const line of violation.history) console.log(`  ${line}`);
    return 1;
  }
  return 0;
}

async function searchForBugs(names: readonly string[], scopes: readonly NamedScope[]): Promise<number> {
  let missed = 0;
  for (const name of names) {
    const reason = beyondTheSearch[name];
    if (reason) {
      console.log(`${name.padEnd(34)} not searched for: ${reason}`);
      continue;
    }
    const found = await firstScopeThatFinds(name, scopes);
    if (!found) missed += 1;
    console.log(`${name.padEnd(34)} ${found ?? "NOT FOUND"}`);
  }
  return missed === 0 ? 0 : 1;
}

async function firstScopeThatFinds(bug: string, scopes: readonly NamedScope[]): Promise<string | undefined> {
  const copy = copyPackages(`explore-${bug}`, bug);
  try {
    for (const scope of scopes) {
      const { violation, states } = await explore(
        scope,
        join(copy.folder, "simulator/dist/explore/worker.js"),
      );
      if (violation) return `found after ${states} states (${scope.name}): ${violation.message}`;
    }
    return undefined;
  } finally {
    copy.remove();
  }
}

/** The search runs core alone. */
const bugsOfCore = Object.entries(bugs).flatMap(([name, { edits }]) =>
  edits.every(({ file }) => file.startsWith("core/")) ? [name] : [],
);
const { values } = parseArgs({
  options: {
    supervisor: { type: "boolean", default: false },
    long: { type: "boolean", default: false },
    "all-bugs": { type: "boolean", default: false },
    bug: { type: "string" },
    help: { type: "boolean", default: false },
  },
});
const scopes = values.long ? [...shortScopes, ...longScopes] : shortScopes;
if (values.help) console.log(usage);
else if (values.supervisor) {
  const { exploreSupervisor } = await import("../supervisor/explore.ts");
  process.exitCode = await exploreSupervisor(values);
} else if (values["all-bugs"]) process.exitCode = await searchForBugs(bugsOfCore, scopes);
else if (values.bug !== undefined) process.exitCode = await searchForBugs([values.bug], scopes);
else process.exitCode = await searchAll(scopes);
