/** A worker thread of main.ts: simulates seeds. */
import { parentPort, workerData } from "node:worker_threads";
import { startCoverage } from "./coverage.ts";

export interface WorkerOptions {
  readonly wide: boolean;
  readonly coverage: boolean;
}

const { wide, coverage } = workerData as WorkerOptions;
const executedLines = coverage ? await startCoverage() : undefined;
// Import after coverage has started, because it only counts modules that are loaded later.
const { simulateSeeds } = await import("./summary.ts");
// The first runs also load modules, which takes real time. Their histories are not repeatable.
for (let runs = 0; wide && runs < 100; runs++) if ((await simulateSeeds(0, 1, true)).terms > 0) break;

parentPort?.on("message", async ({ from, count }: { from: number; count: number }) => {
  const summary = await simulateSeeds(from, count, wide);
  parentPort?.postMessage({ summary, executed: await executedLines?.() });
});
