/**
 * Candidates of client-go and of tenure take turns on one Lease: by release, by kill -9 and by expiry of a frozen leader.
 *
 *     TENURE_INTEROP_HANDOVERS=6 TENURE_INTEROP_SEED=1 npm run test:kube -- interop
 */
import { setTimeout as delay } from "node:timers/promises";
import { afterAll, beforeAll, expect, inject, it, onTestFailed } from "vitest";
import { Api } from "../../bench/lib/api.mjs";
import {
  type CandidateProcess,
  CandidateProcesses,
  electionPrograms,
  type Kind,
  type Line,
} from "../../bench/lib/candidates.mjs";
import { type Entry, entryOf, violations } from "./lease-history.ts";

type Ending = "release" | "kill" | "expiry";

interface Player {
  readonly candidate: CandidateProcess;
  readonly kind: Kind;
  readonly ending: Ending;
  /** Whether it releases the lease when it is told to stop. */
  readonly releases: boolean;
}

const handovers = wholeNumber("TENURE_INTEROP_HANDOVERS", 50);
const seed = wholeNumber("TENURE_INTEROP_SEED", Math.floor(Math.random() * 2 ** 31));
/**
 * Short, so that leases expire soon; not shorter, because a busy machine must not look like a dead leader. Our default is then
 * one renewal per second, the highest rate at which client-go notices every renewal.
 */
const timings = { "lease-duration": "3s", "renew-deadline": "2s", "retry-period": "500ms" };
const name = "office";
const namespace = `interop-${seed}-${process.pid}`;
/** Much longer than an expiry and the longest pause of client-go together. Anything longer is a hang. */
const patienceMs = 30_000;

const { server, caPem, adminToken } = inject("kube");
const api = new Api({ server, caPem, adminToken });
const random = randomFrom(seed);
let candidates: CandidateProcesses;

beforeAll(async () => {
  const { commands } = await electionPrograms();
  candidates = await CandidateProcesses.create(process.env.TENURE_CONFORMANCE_KUBECONFIG ?? "", commands);
  await api.createNamespace(namespace);
}, 600_000);

afterAll(async () => {
  await candidates?.close();
  api.close();
});

it(`hands over ${handovers} times between client-go and ours, seed ${seed}`, {
  timeout: 1_200_000,
}, async () => {
  onTestFailed(() => console.error(`To repeat the draws: TENURE_INTEROP_SEED=${seed}`));
  const history: Entry[] = [];
  const unreadable: unknown[] = [];
  const endWatch = await api.watchLeases(namespace, (leaseEvent) => {
    try {
      history.push(entryOf(leaseEvent));
    } catch (error) {
      unreadable.push(error);
    }
  });

  const all: CandidateProcess[] = [];
  const decks: Record<Kind, Ending[]> = { ours: [], "client-go": [] };
  const enter = (kind: Kind): Player => {
    if (decks[kind].length === 0) decks[kind].push(...shuffled(["release", "kill", "expiry"] as const));
    const ending = decks[kind].pop() as Ending;
    // A client-go leader that releases after it was frozen overwrites the record of its successor.
    const releases = kind === "ours" || ending !== "expiry";
    const candidate = candidates.start(kind, {
      namespace,
      name,
      "work-every": "20ms",
      "release-on-cancel": String(releases),
      ...timings,
    });
    all.push(candidate);
    return { candidate, kind, ending, releases };
  };
  const withdraw = async ({ candidate, kind, ending }: Player) => {
    decks[kind].push(ending);
    await candidate.stop();
  };

  let leader = enter(random() < 0.5 ? "ours" : "client-go");
  await leader.candidate.leads(patienceMs);
  let waiting: Player[] = [];
  const counts: Record<string, number> = {};
  let done = 0;
  // Handovers within one kind do not count. There are few of them, so this limit is never reached.
  for (let turn = 0; done < handovers && turn < handovers * 3; turn++) {
    const wanted: Kind[] = Array(random() < 0.5 ? 1 : 2).fill(other(leader.kind));
    // Our candidate wins whenever both kinds wait. So ours never waits while ours leads, but a Go candidate may wait
    // while client-go leads.
    if (leader.kind === "client-go" && random() < 0.3) wanted.push("client-go");
    await Promise.all(waiting.filter(({ kind }) => !wanted.includes(kind)).map(withdraw));
    waiting = waiting.filter(({ kind }) => wanted.includes(kind));
    for (const kind of wanted) {
      const have = waiting.filter((player) => player.kind === kind).length;
      if (have < wanted.filter((one) => one === kind).length) waiting.push(enter(kind));
    }
    // Every candidate reads the leader from the record.
    const leaders = await Promise.all(
      waiting.map(({ candidate }) =>
        candidate.waitForLine(
          ({ event, leader: seen }) => event === "new-leader" && seen === leader.candidate.id,
          patienceMs,
          `see that ${leader.candidate.id} leads`,
        ),
      ),
    );
    expect(leaders).toHaveLength(waiting.length);
    await delay(random() * 700);

    const heard = waiting.map((player) => player.candidate.leads(patienceMs).then(() => player));
    const succeeded = Promise.any(heard);
    // The candidates that do not win keep waiting, and are checked again in a later turn.
    for (const one of [...heard, succeeded]) one.catch(() => {});
    await end(leader, succeeded);
    const successor = await succeeded;
    if (successor.kind !== leader.kind) {
      done += 1;
      const what = `${leader.kind} to ${successor.kind} by ${leader.ending}`;
      counts[what] = (counts[what] ?? 0) + 1;
    }
    waiting = waiting.filter((player) => player !== successor);
    leader = successor;
  }
  // The waiting candidates stop first, so that none of them succeeds the leader.
  await Promise.all(waiting.map(({ candidate }) => candidate.stop()));
  await leader.candidate.stop();
  if (leader.releases) await released(history);
  endWatch();

  console.error(`interop: seed ${seed}, ${history.length} changes of the Lease, ${JSON.stringify(counts)}`);
  expect(unreadable).toEqual([]);
  expect(done).toBe(handovers);
  const ourLines = all.filter(({ kind }) => kind === "ours").flatMap(({ lines }) => lines);
  expect(violations(history, ourLines)).toEqual([]);
  expect(history[0]?.transitions).toBe(0);
  expect(acquisitions(history)).toBe((history.at(-1)?.transitions ?? 0) + 1);
  // Every leader was named in the Lease.
  expect(starts(all.flatMap(({ lines }) => lines))).toEqual(holders(history));
});

/** Ends the term of the leader. A frozen leader continues once it has a successor, and must then notice the loss. */
async function end({ candidate, kind, ending }: Player, succeeded: Promise<Player>): Promise<void> {
  switch (ending) {
    case "release": {
      await candidate.stop();
      const stopped = candidate.lines.find(({ event }) => event === "stopped-leading");
      expect(stopped).toMatchObject(kind === "ours" ? { released: true } : {});
      return;
    }
    case "kill":
      await candidate.kill();
      return;
    case "expiry": {
      candidate.signal("SIGSTOP");
      await succeeded;
      candidate.signal("SIGCONT");
      // Our candidate ends its process if its work overran, as it did here (docs/adr/0007).
      const lost = candidate.waitForLine(
        ({ event }) => event === "stopped-leading",
        patienceMs,
        "see that it lost",
      );
      await Promise.race([lost.catch(() => {}), candidate.exited]);
      await candidate.kill();
      return;
    }
  }
}

/** Waits until the watch has seen the release of the last leader. */
async function released(history: readonly Entry[]): Promise<void> {
  await expect.poll(() => history.at(-1)?.holder, { timeout: patienceMs }).toBe("");
}

function acquisitions(history: readonly Entry[]): number {
  return holders(history).length;
}

function holders(history: readonly Entry[]): string[] {
  return history
    .filter(({ holder }, index) => holder !== "" && holder !== history[index - 1]?.holder)
    .map(({ holder }) => holder);
}

function starts(lines: readonly Line[]): string[] {
  return lines
    .filter(({ event }) => event === "started-leading")
    .sort((a, b) => a.monoMs - b.monoMs)
    .map(({ id }) => id);
}

function other(kind: Kind): Kind {
  return kind === "ours" ? "client-go" : "ours";
}

function shuffled<T>(items: readonly T[]): T[] {
  return items
    .map((item) => ({ item, rank: random() }))
    .sort((a, b) => a.rank - b.rank)
    .map(({ item }) => item);
}

function wholeNumber(variable: string, otherwise: number): number {
  const value = Number(process.env[variable] || otherwise);
  if (Number.isSafeInteger(value) && value >= 0) return value;
  throw new Error(`${variable} must be a whole number: ${JSON.stringify(process.env[variable])}`);
}

/** mulberry32: small, and the same everywhere. */
function randomFrom(start: number): () => number {
  let state = start >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
