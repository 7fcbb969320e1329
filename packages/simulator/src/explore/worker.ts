/** Searches one scope in its own thread. */
import { parentPort, workerData } from "node:worker_threads";
import { search } from "./search.ts";
import type { Scope } from "./world.ts";

const { scope } = workerData as { scope: Scope };
parentPort?.postMessage(search(scope));
