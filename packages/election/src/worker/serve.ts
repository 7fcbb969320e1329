/**
 * The candidate of an election with `worker: true`, in the worker thread. It renews the lease while the main thread is busy
 * with the application, and ends the process if the main thread has not stopped its work by the hard deadline (G1).
 */
import type { Clock } from "@tenure/base";
import { Candidate, type Command, type Notice } from "../candidate.ts";
import { overrunMessage } from "../errors.ts";
import type { Lock } from "../lock.ts";
import { SharedStatus } from "./shared-status.ts";
import type { WorkerSetup } from "./worker-candidate.ts";

interface ThreadParts {
  readonly setup: WorkerSetup;
  readonly lock: Lock;
  readonly clock: Clock;
  readonly random: () => number;
  /** Tells the main thread. */
  readonly send: (notice: Notice) => void;
  readonly endProcess: (message: string) => void;
}

/** Resolves when the candidate is ready, with the function that takes the commands of the main thread. */
export async function serveCandidate(parts: ThreadParts): Promise<(command: Command) => void> {
  const { setup, lock, clock, random, send, endProcess } = parts;
  const status = new SharedStatus(setup.status);
  const candidate = new Candidate({
    config: setup.config,
    lock,
    clock,
    random,
    reportsStanding: setup.reportsStanding,
    onStep: () => status.publish(candidate.validUntil(), candidate.lastContactMs()),
    onNotice: (notice) => {
      if (notice.type === "overrun" && setup.endOnOverrun) endProcess(overrunMessage(lock.description));
      send(notice);
    },
  });
  await lock.prepare?.();
  return (command) => candidate.send(command);
}
