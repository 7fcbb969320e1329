/** `npm run simulate -- --shards`: looks for violations in seeded histories of sets of shards and of semaphores. */
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import { copyPackages } from "../copy-packages.ts";
import { bugsInShards } from "./bugs-in-shards.ts";
import { addSets, emptySetSummary, type SetSummary } from "./summary.ts";

interface Options {
  readonly from: number;
  readonly seeds: number;
  readonly threads: number;
  readonly bug?: string | undefined;
  readonly allBugs: boolean;
}

/** Resolves with the exit code. */
export async function simulateShards({ from, seeds, threads, bug, allBugs }: Options): Promise<number> {
  if (allBugs) return findBugs(Object.keys(bugsInShards), from, seeds);
  if (bug !== undefined) return (await findBugs([bug], from, seeds)) === 0 ? 1 : 0;
  const share = Math.ceil(seeds / threads);
  const url = new URL("./worker.js", import.meta.url);
  const parts = Array.from({ length: threads }, (_, index) => {
    const first = index * share;
    return runWorker(url, from + first, Math.max(0, Math.min(share, seeds - first)), false);
  });
  const summary = (await Promise.all(parts)).reduce(addSets, emptySetSummary);
  report(summary);
  return summary.failures.length === 0 ? 0 : 1;
}

function report(summary: SetSummary): void {
  console.log(`seeds            ${summary.seeds} of shards and semaphores`);
  console.log(`simulated hours  ${(summary.simulatedMs / 3_600_000).toFixed(1)}`);
  console.log(`terms            ${summary.starts}`);
  console.log(`faults           ${summary.faults}`);
  console.log(
    `longest unowned  ${Math.round(summary.longestUnownedMs)} ms, without faults but crashes; leases of up to 20 s`,
  );
  console.log(`movement         ${summary.moved} shards moved, and ${summary.leastMoves} had to`);
  console.log(`violations       ${summary.failures.length}`);
  for (const { seed, violation, lines } of summary.failures.slice(0, 3)) {
    console.log(`\nseed ${seed} violates ${violation.rule}: ${violation.message}`);
    for (const line of lines) console.log(`  ${line}`);
    console.log(`  replay: npm run simulate -- --shards --from ${seed} --seeds 1`);
  }
}

async function findBugs(names: readonly string[], from: number, seeds: number): Promise<number> {
  let missed = 0;
  for (const name of names) {
    const copy = copyPackages(`shards-${name}`, name);
    try {
      const summary = await runWorker(
        join(copy.folder, "simulator/dist/shards/worker.js"),
        from,
        seeds,
        true,
      );
      const [found] = summary.failures;
      if (!found) missed += 1;
      const verdict = found
        ? `found by seed ${found.seed}: ${found.violation.rule}, ${found.violation.message}`
        : "NOT FOUND";
      console.log(`${name.padEnd(34)} ${verdict}`);
    } finally {
      copy.remove();
    }
  }
  console.log(`${names.length - missed} of ${names.length} bugs are found`);
  return missed === 0 ? 0 : 1;
}

function runWorker(
  url: string | URL,
  from: number,
  seeds: number,
  stopsAtViolation: boolean,
): Promise<SetSummary> {
  return new Promise((resolve, reject) => {
    const worker = new Worker(url, { workerData: { from, seeds, stopsAtViolation } });
    worker.once("message", resolve);
    worker.once("error", reject);
  });
}
