/** Plays seeds for main, in a thread of its own, on code with or without a planted bug. */
import { register } from "node:module";
import { parentPort, workerData } from "node:worker_threads";
import type { Summary } from "./summary.ts";

const bug = workerData as string | undefined;
if (bug !== undefined) register("./plant.js", import.meta.url, { data: bug });
// Only now: what is imported before the hooks are there cannot be changed by them.
const { playSeeds } = await import("./summary.ts");

parentPort?.on("message", async ({ from, count }: { from: number; count: number }) => {
  const summary: Summary = await playSeeds(from, count);
  parentPort?.postMessage(summary);
});
