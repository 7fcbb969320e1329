/**
 * Starts the thread of an election with `worker: true` from its file. scripts/bundle.mjs replaces this module by one that has the
 * code of the thread as a string, because a bundler moves this code away from the file.
 */
import { Worker } from "node:worker_threads";

export function startWorker(workerData: object): Worker {
  return new Worker(new URL("./thread.js", import.meta.url), { workerData });
}
