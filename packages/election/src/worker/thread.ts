/**
 * The thread of an election with `worker: true`: renews while the main thread is busy with the application, and ends
 * the process if the main thread has not stopped its work by the hard deadline (G1).
 */
import { parentPort, workerData } from "node:worker_threads";
import { systemClock, systemRandom } from "@tenure/base";
import { Candidate, type Notice } from "../candidate.ts";
import { lockFromSpec } from "../locks/from-spec.ts";
import { overrunMessage } from "../overrun.ts";
import { endProcess } from "../platform.ts";
import { Board } from "./board.ts";
import type { ToWorker, WorkerSetup } from "./messages.ts";

const setup = workerData as WorkerSetup;
const port = parentPort;
if (!port) throw new Error("this file is the entry point of a worker thread");
const board = new Board(setup.board);
const lock = lockFromSpec(setup.lock);

const candidate = new Candidate({
  config: setup.config,
  lock,
  clock: systemClock,
  random: systemRandom,
  onStep: () => board.publish(candidate.validUntil(), candidate.heardAtMs()),
  onNotice: (notice: Notice) => {
    if (notice.type === "overrun" && setup.endOnOverrun) endProcess(overrunMessage(lock.description));
    port.postMessage(notice);
  },
});

await lock.prepare?.();
port.on("message", (command: ToWorker) => candidate.send(command));
