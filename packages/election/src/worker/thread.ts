/**
 * The thread of an election with `worker: true`. It renews the lease while the main thread is busy with the application, and
 * ends the process if the main thread has not stopped its work by the hard deadline (G1).
 */
import { parentPort, workerData } from "node:worker_threads";
import { systemClock, systemRandom } from "@tenure/base";
import { Candidate, type Command } from "../candidate.ts";
import { overrunMessage } from "../errors.ts";
import { lockFromSpec } from "../locks/lock-from-spec.ts";
import { endProcess } from "../platform.ts";
import { SharedStatus } from "./shared-status.ts";
import type { WorkerSetup } from "./worker-candidate.ts";

const setup = workerData as WorkerSetup;
const port = parentPort;
if (!port) throw new Error("this file is the entry point of a worker thread");
const status = new SharedStatus(setup.status);
const lock = lockFromSpec(setup.lock);

const candidate = new Candidate({
  config: setup.config,
  lock,
  clock: systemClock,
  random: systemRandom,
  onStep: () => status.publish(candidate.validUntil(), candidate.lastContactMs()),
  onNotice: (notice) => {
    if (notice.type === "overrun" && setup.endOnOverrun) endProcess(overrunMessage(lock.description));
    port.postMessage(notice);
  },
});

await lock.prepare?.();
port.on("message", (command: Command) => candidate.send(command));
