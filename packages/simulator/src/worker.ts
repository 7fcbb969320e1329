/** A worker thread of main.ts: simulates seeds. */
import { parentPort, workerData } from "node:worker_threads";
import { startCoverage } from "./coverage.ts";
import type { Width } from "./plan.ts";

export interface WorkerOptions {
  readonly width: Width;
  readonly coverage: boolean;
  /** Shrink failing histories. */
  readonly shrinks: boolean;
}

const { width, coverage, shrinks } = workerData as WorkerOptions;
const executedLines = coverage ? await startCoverage() : undefined;
// Import after coverage has started, because it only counts modules that are loaded later.
const { simulateSeeds } = await import("./summary.ts");
const { loadModules } = await import("./load-modules.ts");
if (width !== "narrow" && width !== "supervised") await loadModules();

parentPort?.on("message", async ({ from, count }: { from: number; count: number }) => {
  const summary = await simulateSeeds(from, count, { width, shrinks });
  parentPort?.postMessage({ summary, executed: await executedLines?.() });
});
