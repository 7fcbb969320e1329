/** `npm run explore -- --supervisor`: searches every history of one supervised child. */
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import { copyPackages } from "../copy-packages.ts";
import { bugsInSupervisor } from "./bugs-in-supervisor.ts";
import { longScopes, type SupervisorScope, shortScopes } from "./scopes.ts";
import type { SupervisorSearchResult } from "./search.ts";

interface ExploreOptions {
  readonly long: boolean;
  readonly "all-bugs": boolean;
  readonly bug?: string | undefined;
}

/** Resolves with the exit code. */
export async function exploreSupervisor(options: ExploreOptions): Promise<number> {
  const scopes = options.long ? longScopes : shortScopes;
  if (options.bug !== undefined) return findBugs([options.bug], scopes);
  if (options["all-bugs"]) return findBugs(Object.keys(bugsInSupervisor), scopes);
  for (const scope of scopes) {
    const { states, transitions, violation } = await explore(scope, new URL("./worker.js", import.meta.url));
    console.log(`${scope.name.padEnd(30)} ${String(states).padStart(9)} states ${transitions} transitions`);
    if (!violation) continue;
    console.log(`\n${violation.message}`);
    for (const line of violation.history) console.log(`  ${line}`);
    return 1;
  }
  return 0;
}

async function findBugs(names: readonly string[], scopes: readonly SupervisorScope[]): Promise<number> {
  let missed = 0;
  for (const name of names) {
    const found = await findBug(name, scopes);
    if (found === undefined) missed += 1;
    console.log(`${name.padEnd(34)} ${found ?? "NOT FOUND"}`);
  }
  return missed === 0 ? 0 : 1;
}

async function findBug(name: string, scopes: readonly SupervisorScope[]): Promise<string | undefined> {
  const copy = copyPackages(`explore-${name}`, name);
  try {
    for (const scope of scopes) {
      const worker = join(copy.folder, "simulator/dist/supervisor/worker.js");
      const { violation, states } = await explore(scope, worker);
      if (violation) return `found after ${states} states (${scope.name}): ${violation.message}`;
    }
    return undefined;
  } finally {
    copy.remove();
  }
}

function explore(scope: SupervisorScope, worker: string | URL): Promise<SupervisorSearchResult> {
  return new Promise((resolve, reject) => {
    const thread = new Worker(worker, { workerData: { scope } });
    thread.once("message", resolve);
    thread.once("error", reject);
  });
}
