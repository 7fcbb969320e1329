/** Searches one scope in its own thread, on code with or without a planted mistake. */
import { register } from "node:module";
import { parentPort, workerData } from "node:worker_threads";
import type { Scope } from "./world.ts";

const { scope, bug, mostStates } = workerData as { scope: Scope; bug?: string; mostStates?: number };
if (bug !== undefined) register("../bug-hooks.js", import.meta.url, { data: bug });
// Imported only now, because a hook cannot change a module that is already loaded.
const { search } = await import("./search.ts");

parentPort?.postMessage(search(scope, mostStates === undefined ? {} : { mostStates }));
