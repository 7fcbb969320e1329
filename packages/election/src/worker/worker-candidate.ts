/** The candidate of an election with `worker: true`, as the main thread sees it. */
import type { Instant } from "@tenure/base";
import type { Config } from "@tenure/core";
import type { CandidateHandle, Command, Notice } from "../candidate.ts";
import type { LockSpec } from "../lock.ts";
import { SharedStatus } from "./shared-status.ts";
import { startWorker } from "./start-worker.ts";

/** What the worker thread is started with. Then it gets commands and sends notices. */
export interface WorkerSetup {
  readonly config: Config;
  readonly lock: LockSpec;
  readonly status: SharedArrayBuffer;
  readonly endOnOverrun: boolean;
  /** Whether the main thread shows the candidate to operators. */
  readonly reportsStanding: boolean;
}

/** The part of a worker thread of Node that is used. */
export interface Thread {
  postMessage(command: Command): void;
  on(event: "message", listener: (notice: Notice) => void): void;
  on(event: "error", listener: (error: Error) => void): void;
  terminate(): unknown;
}

interface WorkerCandidateParts extends Omit<WorkerSetup, "status"> {
  readonly onNotice: (notice: Notice) => void;
  /** The thread died. */
  readonly onError: (error: Error) => void;
  /** @default starts a worker thread of Node */
  readonly startThread?: ((setup: WorkerSetup) => Thread) | undefined;
}

export class WorkerCandidate implements CandidateHandle {
  readonly #worker: Thread;
  readonly #status = new SharedStatus();
  #leader: string | undefined;

  constructor({ onNotice, onError, startThread = startWorker, ...setup }: WorkerCandidateParts) {
    this.#worker = startThread({ ...setup, status: this.#status.buffer });
    this.#worker.on("message", (notice: Notice) => {
      if (notice.type === "leader-changed") this.#leader = notice.leader;
      onNotice(notice);
      if (notice.type === "stopped" || notice.type === "refused") void this.#worker.terminate();
    });
    this.#worker.on("error", onError);
  }

  send(command: Command): void {
    this.#worker.postMessage(command);
  }

  validUntil(): Instant | undefined {
    return this.#status.validUntil();
  }

  leader(): string | undefined {
    return this.#leader;
  }

  lastContactMs(): number {
    return this.#status.lastContactMs();
  }
}
