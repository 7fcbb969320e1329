// @ts-check
/**
 * A thousand elections in one process with one client: one process leads all of them, a second one waits for all of them. tenure
 * shares one watch. Renewals are PUTs and come only from the leader; all other requests come from the waiting process. tenure runs with
 * the heap that Node chooses in a pod with a memory limit; what its leader needs without a limit is measured after that.
 */
import { setTimeout as delay } from "node:timers/promises";
import { kinds } from "../lib/candidates.mjs";
import { monoMs } from "../lib/clock.mjs";
import { leaseRate, subtractBaseline } from "../lib/metrics.mjs";

/** @typedef {import("./scenario.mjs").CandidateProcess} CandidateProcess */
/** @typedef {Awaited<ReturnType<typeof measure>>} Cost */

const defaultElections = 1_000;
const windowMs = 45_000;
const settleMs = 10_000;
const startTimeoutMs = 180_000;
/** A leader must write each of its Leases at least every 5 s, half of renewDeadline, to have time for a second attempt. */
const fewestRenewalsPerMinute = 12;

/** @type {import("./scenario.mjs").Scenario} */
export const thousand = {
  name: "thousand",
  async run({
    candidates,
    api,
    baseline: measureBaseline,
    namespace,
    report,
    rounds: elections = defaultElections,
  }) {
    const baseline = await measureBaseline();
    /** @type {Record<string, Cost>} */
    const results = {};
    for (const kind of kinds) {
      const name = await namespace("thousand");
      const flags = { namespace: name, name: "lease", count: elections };
      report(`thousand: ${elections} elections of ${kind}, one process leads`);
      const program = kind === "ours" ? "ours in a pod" : kind;
      const leader = candidates.start(program, flags);
      await waitForAllElections(leader, "started-leading", elections);
      report(`thousand: ${elections} elections of ${kind}, another process waits`);
      const waiting = candidates.start(program, flags);
      await waitForAllElections(waiting, "new-leader", elections);
      await delay(settleMs);
      const before = leader.lines.length + waiting.lines.length;
      results[kind] = await measure(api, leader, waiting, baseline);
      const changes = leader.lines.length + waiting.lines.length - before;
      if (changes > 0) report(`thousand: ${kind} was not idle: ${changes} leader changes`);
      await Promise.all([leader.kill(), waiting.kill()]);
    }
    report(`thousand: ${elections} elections of ours, one process leads without a memory limit`);
    const unlimited = await measureLeader("ours");
    report(`thousand: a bare program replaces ${elections} Leases`);
    const bare = await measureLeader("bare");
    const { ours, "client-go": clientGo } = results;
    if (!ours || !clientGo) throw new Error("Not all kinds were measured");
    /** @param {"ours" | "bare"} program */
    async function measureLeader(program) {
      const flags = { namespace: await namespace("thousand"), name: "lease", count: elections };
      const leader = candidates.start(program, flags);
      await waitForAllElections(leader, "started-leading", elections);
      await delay(settleMs);
      const [cpuBefore, startedMs] = [await leader.cpuMs(), monoMs()];
      await delay(windowMs);
      const cpuPercent = (100 * ((await leader.cpuMs()) - cpuBefore)) / (monoMs() - startedMs);
      const memoryMb = await leader.memoryMb();
      await leader.kill();
      return { cpuPercent, memoryMb };
    }
    /** @param {string} figure @param {string} unit @param {(cost: Cost) => number} of */
    const row = (figure, unit, of) => ({
      scenario: "thousand",
      figure,
      unit,
      ours: of(ours),
      clientGo: of(clientGo),
    });
    const note =
      "only waiting candidates can reach a twentieth: a leader must write each of its Leases, tenure every 3 s and client-go every 2 s, and a 15 s lease cannot be renewed every 40 s; the floor is one write every 5 s";
    const noteOfFloor =
      "the floor for leading is a bare program that replaces the Leases every 3 s with node:https and does nothing else; it and tenure have the heap that Node chooses in a pod with a memory limit of 512 MiB";
    return [
      {
        ...row("requests per minute, waiting", "", ({ waiting }) => waiting.perMinute),
        floor: 0,
        atMost: clientGo.waiting.perMinute / 20,
      },
      {
        ...row("requests per minute, leading", "", ({ leading }) => leading.perMinute),
        floor: elections * fewestRenewalsPerMinute,
        atMost: clientGo.leading.perMinute / 20,
        note,
      },
      { ...row("open watches, waiting and leading", "", ({ openWatches }) => openWatches), atMost: 2 },
      row("CPU, waiting", "% of a core", ({ waiting }) => waiting.cpuPercent),
      {
        ...row("CPU, leading", "% of a core", ({ leading }) => leading.cpuPercent),
        floor: bare.cpuPercent,
        atMost: clientGo.leading.cpuPercent,
        note: noteOfFloor,
      },
      {
        scenario: "thousand",
        figure: "CPU, leading, no memory limit",
        unit: "% of a core",
        ours: unlimited.cpuPercent,
      },
      row("memory, waiting", "MB", ({ waiting }) => waiting.memoryMb),
      {
        ...row("memory, leading", "MB", ({ leading }) => leading.memoryMb),
        floor: bare.memoryMb,
        atMost: 100,
        note: noteOfFloor,
      },
      {
        scenario: "thousand",
        figure: "memory, leading, no memory limit",
        unit: "MB",
        ours: unlimited.memoryMb,
      },
    ];
  },
};

/** @param {CandidateProcess} candidate @param {string} event @param {number} elections */
async function waitForAllElections(candidate, event, elections) {
  /** @type {Set<string>} */
  const elected = new Set();
  /** @param {import("../lib/candidates.mjs").Line} line */
  const count = (line) => {
    if (line.event === event && line.leader !== "") elected.add(line.election);
    return elected.size === elections;
  };
  await candidate.waitForLine(count, startTimeoutMs, `report "${event}" in all elections`);
}

/**
 * @param {import("../lib/api.mjs").Api} api
 * @param {CandidateProcess} leader
 * @param {CandidateProcess} waiting
 * @param {import("../lib/metrics.mjs").Rate} baseline
 */
async function measure(api, leader, waiting, baseline) {
  const cpu = async () => [await leader.cpuMs(), await waiting.cpuMs(), monoMs()];
  const [leaderBefore = 0, waitingBefore = 0, startedMs = 0] = await cpu();
  const rate = subtractBaseline(await leaseRate(api, windowMs), baseline);
  const [leaderAfter = 0, waitingAfter = 0, endedMs = 0] = await cpu();
  const percent = (/** @type {number} */ usedMs) => (100 * usedMs) / (endedMs - startedMs);
  const puts = rate.byVerb.PUT ?? 0;
  return {
    openWatches: rate.openWatches,
    leading: {
      perMinute: puts,
      cpuPercent: percent(leaderAfter - leaderBefore),
      memoryMb: await leader.memoryMb(),
    },
    waiting: {
      perMinute: rate.perMinute - puts,
      cpuPercent: percent(waitingAfter - waitingBefore),
      memoryMb: await waiting.memoryMb(),
    },
  };
}
