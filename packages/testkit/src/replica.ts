/** One replica of an election, with an in-memory lock and a virtual clock. */
import { VirtualClock } from "@tenure/base/virtual-clock";
import { Election, type ElectionOptions, type Work } from "@tenure/election";
import { type MemoryLock, MemoryServer } from "./memory-lock.ts";

export interface Replica {
  readonly clock: VirtualClock;
  readonly lock: MemoryLock;
  readonly election: Election;
  /** What happened to the lock, in order. A test can add its own entries. */
  readonly log: string[];
  /** Overruns and errors of the election, in order. */
  readonly events: string[];
  readonly isDone: boolean;
  /** How many terms have started. */
  readonly terms: number;
  /** Campaigns. By default the work waits until its signal aborts. */
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
