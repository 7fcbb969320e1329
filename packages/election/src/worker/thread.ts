/** The entry point of the thread of an election with `worker: true`. */
import { parentPort, workerData } from "node:worker_threads";
import { systemClock, systemRandom } from "@tenure/base";
import { lockFromSpec } from "../locks/lock-from-spec.ts";
import { endProcess } from "../platform.ts";
import { serveCandidate } from "./serve.ts";
import type { WorkerSetup } from "./worker-candidate.ts";

const setup = workerData as WorkerSetup;
const port = parentPort;
if (!port) throw new Error("this file is the entry point of a worker thread");

const ready = serveCandidate({
  setup,
  lock: lockFromSpec(setup.lock),
  clock: systemClock,
  random: systemRandom,
  send: (notice) => port.postMessage(notice),
  endProcess,
});
// Deno drops messages that arrive before there is a listener. A rejection ends the thread, which the main thread notices.
port.on("message", (command) => void ready.then((onCommand) => onCommand(command)));
