/** The main thread's end of an election with `worker: true`. */
import { Worker } from "node:worker_threads";
import type { Instant } from "@tenure/base";
import type { Config } from "@tenure/core";
import type { Command, Notice } from "../candidate.ts";
import type { Engine } from "../engine.ts";
import type { LockSpec } from "../lock.ts";
import { Board } from "./board.ts";
import type { FromWorker, WorkerSetup } from "./messages.ts";

export interface WorkerEngineParts {
  readonly config: Config;
  readonly lock: LockSpec;
  readonly endOnOverrun: boolean;
  readonly onNotice: (notice: Notice) => void;
  readonly onBroken: (error: Error) => void;
}

export class WorkerEngine implements Engine {
  readonly #worker: Worker;
  readonly #board = new Board();
  #leader: string | undefined;

  constructor({ config, lock, endOnOverrun, onNotice, onBroken }: WorkerEngineParts) {
    const workerData: WorkerSetup = { config, lock, board: this.#board.buffer, endOnOverrun };
    this.#worker = new Worker(new URL("./thread.js", import.meta.url), { workerData });
    this.#worker.on("message", (notice: FromWorker) => {
      if (notice.type === "leader-changed") this.#leader = notice.leader;
      onNotice(notice);
      if (notice.type === "stopped" || notice.type === "refused") void this.#worker.terminate();
    });
    this.#worker.on("error", (error) => onBroken(error));
  }

  send(command: Command): void {
    this.#worker.postMessage(command);
  }

  validUntil(): Instant | undefined {
    return this.#board.validUntil();
  }

  leader(): string | undefined {
    return this.#leader;
  }

  heardAtMs(): number {
    return this.#board.heardAtMs();
  }
}
