/** A worker thread of main.ts: simulates seeds, with or without a planted bug. */
import { register } from "node:module";
import { parentPort, workerData } from "node:worker_threads";
import type { Summary } from "./summary.ts";

const bug = workerData as string | undefined;
if (bug !== undefined) register("./bug-hooks.js", import.meta.url, { data: bug });
// Import after the hooks are registered, because they only change modules that are loaded later.
const { simulateSeeds } = await import("./summary.ts");

parentPort?.on("message", async ({ from, count }: { from: number; count: number }) => {
  const summary: Summary = await simulateSeeds(from, count);
  parentPort?.postMessage(summary);
});
