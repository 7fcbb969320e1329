/** Searches one scope of a supervised child in its own thread. */
import { parentPort, workerData } from "node:worker_threads";
import type { SupervisorScope } from "./scopes.ts";
import { searchSupervisor } from "./search.ts";

const { scope } = workerData as { scope: SupervisorScope };
parentPort?.postMessage(searchSupervisor(scope));
