/** Simulates sets of shards in its own thread: seed after seed, until one violates a rule. */
import { parentPort, workerData } from "node:worker_threads";
import { simulateSets } from "./summary.ts";

const { from, seeds, stopsAtViolation } = workerData as {
  readonly from: number;
  readonly seeds: number;
  readonly stopsAtViolation: boolean;
};
parentPort?.postMessage(await simulateSets(from, seeds, stopsAtViolation));
