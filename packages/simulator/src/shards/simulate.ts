/** `npm run simulate -- --shards`: looks for violations in seeded histories of sets of shards and of semaphores. */
import { join } from "node:path";
import { Worker } from "node:worker_threads";
import { copyPackages } from "../copy-packages.ts";
import type { ExecutedLines } from "../coverage.ts";
import { bugsInShards } from "./bugs-in-shards.ts";
import type { SetWidth } from "./simulation.ts";
import { addSets, emptySetSummary, type SetSummary } from "./summary.ts";
import type { SetWorkerOptions, SetWorkerResult } from "./worker.ts";

interface Options {
  readonly from: number;
  readonly seeds: number;
  readonly threads: number;
  readonly width: SetWidth;
  /** Called with the lines that each thread executed. @default they are not counted */
  readonly onExecuted?: (executed: ExecutedLines) => void;
}

/** Resolves with the exit code. */
export async function simulateShards(options: Options): Promise<number> {
  const copy = options.onExecuted ? copyPackages("shards-coverage", undefined) : undefined;
  try {
    const url = copy ? workerIn(copy.folder) : new URL("./worker.js", import.meta.url);
    const summary = await runThreads(url, options);
    report(summary, options.width);
    return summary.failures.length === 0 ? 0 : 1;
  } finally {
    copy?.remove();
  }
}

/** Plants each of these bugs in turn. Resolves with whether all are found. */
export async function findShardBugs(names: readonly string[], from: number, seeds: number): Promise<boolean> {
  let missed = 0;
  for (const name of names) {
    const copy = copyPackages(`shards-${name}`, name);
    const width = bugsInShards[name]?.width === "wide" ? "wide" : "mixed";
    try {
      const options = { from, seeds, width, stopsAtViolation: true, coverage: false } as const;
      const { summary } = await runWorker(workerIn(copy.folder), options);
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
  return missed === 0;
}

async function runThreads(
  url: string | URL,
  { from, seeds, threads, width, onExecuted }: Options,
): Promise<SetSummary> {
  const share = Math.ceil(seeds / threads);
  const parts = Array.from({ length: threads }, async (_, index) => {
    const first = index * share;
    const count = Math.max(0, Math.min(share, seeds - first));
    const { summary, executed } = await runWorker(url, {
      from: from + first,
      seeds: count,
      width,
      stopsAtViolation: false,
      coverage: onExecuted !== undefined,
    });
    if (executed) onExecuted?.(executed);
    return summary;
  });
  return (await Promise.all(parts)).reduce(addSets, emptySetSummary);
}

function report(summary: SetSummary, width: SetWidth): void {
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
    const wide = width === "wide" ? " --wide" : "";
    console.log(`  replay: npm run simulate -- --shards${wide} --from ${seed} --seeds 1`);
  }
}

function workerIn(folder: string): string {
  return join(folder, "simulator/dist/shards/worker.js");
}

function runWorker(url: string | URL, workerData: SetWorkerOptions): Promise<SetWorkerResult> {
  return new Promise((resolve, reject) => {
    const worker = new Worker(url, { workerData });
    worker.once("message", resolve);
    worker.once("error", reject);
  });
}
