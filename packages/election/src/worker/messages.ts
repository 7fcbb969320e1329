import type { Config } from "@tenure/core";
import type { Command, Notice } from "../candidate.ts";
import type { LockSpec } from "../lock.ts";

/** What the thread is started with. */
export interface WorkerSetup {
  readonly config: Config;
  readonly lock: LockSpec;
  readonly board: SharedArrayBuffer;
  readonly endOnOverrun: boolean;
}

export type ToWorker = Command;
export type FromWorker = Notice;
