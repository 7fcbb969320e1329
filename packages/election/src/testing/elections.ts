/** Whole elections in virtual time: each member has its own link to one lock, and notes what it does in the lock's log. */

import { VirtualClock } from "@tenure/base/virtual-clock";
import { type MemoryLock, MemoryServer } from "@tenure/testkit";
import { Election } from "../election.ts";
import type { ElectionEvents } from "../events.ts";
import type { ElectionOptions, RunOptions, Work } from "../options.ts";
import type { Term } from "../term.ts";

export interface Member {
  readonly election: Election;
  readonly lock: MemoryLock;
  readonly clock: VirtualClock;
  readonly server: MemoryServer;
  /** The terms that it served, in order. */
  readonly terms: Term[];
  /** Its events in order, in short. */
  readonly events: string[];
  /** The last run. */
  readonly done: Promise<void>;
  readonly isDone: boolean;
  run(work?: Work, options?: RunOptions): Promise<void>;
  stop(): void;
}

export type MemberOptions = Partial<ElectionOptions> & { readonly server?: MemoryServer };

const eventNames: readonly (keyof ElectionEvents)[] = [
  "leader-changed",
  "term-started",
  "renewed",
  "term-ended",
  "overrun",
  "error",
];

export function newMember(
  identity = "a",
  { server: shared, lock: ownLock, ...options }: MemberOptions = {},
): Member {
  const clock = shared?.clock ?? new VirtualClock();
  const server = shared ?? new MemoryServer(clock);
  const lock = (ownLock as MemoryLock | undefined) ?? server.link();
  const election = new Election({ lock, identity, clock, random: () => 0.5, ...options });
  const terms: Term[] = [];
  const events: string[] = [];
  for (const name of eventNames) {
    election.on(name, (event) => {
      if (name !== "renewed") events.push(inShort(name, event));
    });
  }
  let shutdown = new AbortController();
  let done: Promise<void> = Promise.resolve();
  let isDone = true;
  return {
    election,
    lock,
    clock,
    server,
    terms,
    events,
    get done() {
      return done;
    },
    get isDone() {
      return isDone;
    },
    run(work = untilAborted(server), runOptions = {}) {
      shutdown = new AbortController();
      isDone = false;
      done = election
        .run(
          (term) => {
            terms.push(term);
            return work(term);
          },
          { signal: shutdown.signal, ...runOptions },
        )
        .finally(() => {
          isDone = true;
        });
      // A test that wants to know awaits it; others must not fail by it.
      done.catch(() => {});
      return done;
    },
    stop: () => shutdown.abort(),
  };
}

/** A member that leads. */
export async function newLeadingMember(
  options: MemberOptions = {},
  work?: Work,
  run?: RunOptions,
): Promise<Member & { readonly term: Term }> {
  const member = newMember("a", options);
  member.run(work, run);
  await member.clock.until(() => member.terms.length > 0, 1_000);
  return Object.assign(member, { term: member.terms[0] as Term });
}

/** Work that stops `ms` after it was asked to, and says so in the log of the lock. */
export function untilAborted(server: MemoryServer, ms = 0): Work {
  return async ({ identity, signal }) => {
    server.log.push(`${identity} works`);
    await aborted(signal);
    if (ms > 0) await sleep(server.clock, ms);
    server.log.push(`${identity} stopped`);
  };
}

export function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    signal.addEventListener("abort", () => resolve(), { once: true });
  });
}

export function sleep(clock: VirtualClock, ms: number): Promise<void> {
  return new Promise((resolve) => void clock.at(clock.now().monoMs + ms, resolve));
}

function inShort(name: keyof ElectionEvents, event: object): string {
  const { leader, reason, released, error } = event as Record<string, unknown>;
  if (name === "leader-changed") return `leader ${leader}`;
  if (name === "term-ended") return `ended ${reason}${released ? " released" : ""}`;
  if (name === "term-started") return "started";
  return name === "error" ? `error ${(error as Error).message}` : name;
}
