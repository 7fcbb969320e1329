/** One replica of an election: a real `Election` with an in-memory lock and a virtual clock. */
import { first, sleep } from "@tenure/base";
import { VirtualClock } from "@tenure/base/virtual-clock";
import {
  Election,
  type ElectionEvents,
  type ElectionOptions,
  type RunOptions,
  type Term,
  type Work,
} from "@tenure/election";
import { type MemoryLock, MemoryServer } from "./memory-lock.ts";

/** The options of the election, with defaults for a test: identity "a", and an overrun is only reported. */
export interface ReplicaOptions extends Partial<Omit<ElectionOptions, "lock" | "clock">> {
  /** Pass the server of another replica to compete with it for the same lock. @default a server of its own */
  readonly server?: MemoryServer;
}

export interface Replica {
  readonly clock: VirtualClock;
  readonly server: MemoryServer;
  readonly lock: MemoryLock;
  readonly election: Election;
  /** The log of the server: what happened to the lock, in order. */
  readonly log: string[];
  /** The terms that the replica served, in order. */
  readonly terms: readonly Term[];
  /** The election's events in order, without renewals: "leader a", "started", "ended shutdown released", "error …". */
  readonly events: string[];
  /** The promise of the last run. */
  readonly done: Promise<void>;
  readonly isDone: boolean;
  /** Campaigns. @param work by default `untilAborted` */
  run(work?: Work, options?: RunOptions): Promise<void>;
  /** Ends the run. */
  stop(): void;
}

export function newReplica({ server: shared, ...options }: ReplicaOptions = {}): Replica {
  const server = shared ?? new MemoryServer(new VirtualClock());
  const { clock, log } = server;
  const lock = server.link();
  const election = new Election({
    identity: "a",
    random: () => 0.5,
    onOverrun: "report",
    ...options,
    lock,
    clock,
  });
  const terms: Term[] = [];
  let shutdown = new AbortController();
  let done: Promise<void> = Promise.resolve();
  let isDone = true;
  return {
    clock,
    server,
    lock,
    election,
    log,
    terms,
    events: eventsOf(election),
    get done() {
      return done;
    },
    get isDone() {
      return isDone;
    },
    run(work = untilAborted(server), runOptions = {}) {
      const serve: Work = (term) => {
        terms.push(term);
        return work(term);
      };
      shutdown = new AbortController();
      isDone = false;
      done = election.run(serve, { signal: shutdown.signal, ...runOptions }).finally(() => {
        isDone = true;
      });
      // A test that ignores the promise does not fail with an unhandled rejection.
      done.catch(() => {});
      return done;
    },
    stop: () => shutdown.abort(),
  };
}

/** Work that stops `ms` after its signal aborts. It adds "a works" and "a stopped" to the log of the server. */
export function untilAborted({ clock, log }: MemoryServer, ms = 0): Work {
  return async ({ identity, signal }) => {
    log.push(`${identity} works`);
    await first(clock, { aborted: signal });
    if (ms > 0) await sleep(clock, ms);
    log.push(`${identity} stopped`);
  };
}

function eventsOf(election: Election): string[] {
  const events: string[] = [];
  const record = <Name extends keyof ElectionEvents>(
    name: Name,
    describe: (event: ElectionEvents[Name]) => string,
  ) => election.on(name, (event) => void events.push(describe(event)));
  record("leader-changed", ({ leader }) => `leader ${leader}`);
  record("term-started", () => "started");
  record("term-ended", ({ reason, released }) => `ended ${reason}${released ? " released" : ""}`);
  record("overrun", () => "overrun");
  record("error", ({ error }) => `error ${error.message}`);
  return events;
}
