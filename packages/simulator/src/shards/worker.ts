/** Simulates sets of shards in its own thread: seed after seed, or until one violates a rule. */
import { parentPort, workerData } from "node:worker_threads";
import { type ExecutedLines, startCoverage } from "../coverage.ts";
import type { SetWidth } from "./simulation.ts";
import type { SetSummary } from "./summary.ts";

export interface SetWorkerOptions {
  readonly from: number;
  readonly seeds: number;
  readonly width: SetWidth;
  readonly stopsAtViolation: boolean;
  readonly coverage: boolean;
}

export interface SetWorkerResult {
  readonly summary: SetSummary;
  readonly executed: ExecutedLines | undefined;
}

const { from, seeds, width, stopsAtViolation, coverage } = workerData as SetWorkerOptions;
const executedLines = coverage ? await startCoverage() : undefined;
// Import after coverage has started, because it only counts modules that are loaded later.
const { simulateSets } = await import("./summary.ts");
const { loadModules } = await import("../load-modules.ts");
await loadModules();
const summary = await simulateSets(from, seeds, stopsAtViolation, width);
parentPort?.postMessage({ summary, executed: await executedLines?.() } satisfies SetWorkerResult);
