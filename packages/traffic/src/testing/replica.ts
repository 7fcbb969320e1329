/** One replica of an election in memory and in virtual time. For tests. */

import { VirtualClock } from "@tenure/base/virtual-clock";
import { Election, type ElectionOptions, type Work } from "@tenure/election";
import { type MemoryLock, MemoryServer } from "../../../election/src/testing/memory-lock.ts";

export interface Replica {
  readonly clock: VirtualClock;
  readonly lock: MemoryLock;
  readonly election: Election;
  /** What happened to the lock, and what a test notes beside it. */
  readonly log: string[];
  readonly events: string[];
  readonly isDone: boolean;
  /** How many terms began. */
  readonly terms: number;
  run(work?: Work): void;
  stop(): void;
}

export function newReplica(options: Partial<ElectionOptions> = {}): Replica {
  const clock = new VirtualClock();
  const server = new MemoryServer(clock);
  const lock = server.link();
  const election = new Election({
    lock,
    clock,
    identity: "a",
    random: () => 0.5,
    onOverrun: "report",
    ...options,
  });
  const events: string[] = [];
  let terms = 0;
  let isDone = false;
  election.on("term-started", () => void terms++);
  election.on("overrun", () => void events.push("overrun"));
  election.on("error", ({ error }) => void events.push(`error ${error.message}`));
  const shutdown = new AbortController();
  return {
    clock,
    lock,
    election,
    log: server.log,
    events,
    get isDone() {
      return isDone;
    },
    get terms() {
      return terms;
    },
    run(work = ({ signal }) => new Promise<void>((end) => signal.addEventListener("abort", () => end()))) {
      void election.run(work, { signal: shutdown.signal }).finally(() => {
        isDone = true;
      });
    },
    stop: () => shutdown.abort(),
  };
}

export function sleep(clock: VirtualClock, ms: number): Promise<void> {
  return new Promise((resolve) => void clock.at(clock.now().monoMs + ms, resolve));
}
