// @ts-check
/**
 * A thousand elections in one process with one client: all led by one process, all waited for by a second one. Ours share a
 * watch. Renewals are PUTs and come from the leader alone; what is left are the requests of the one that waits.
 */
import { setTimeout as delay } from "node:timers/promises";
import { monoMs } from "../lib/clock.mjs";
import { kinds } from "../lib/contestants.mjs";
import { leaseRate, less } from "../lib/metrics.mjs";

/** @typedef {import("./stage.mjs").Contestant} Contestant */
/** @typedef {Awaited<ReturnType<typeof measure>>} Cost */

const usualElections = 1_000;
const windowMs = 45_000;
const settleMs = 10_000;
const startTimeoutMs = 180_000;
/** A leader writes every one of its Leases at least every 5 s, half of renewDeadline, or it has no second try. */
const fewestRenewalsPerMinute = 12;

/** @type {import("./stage.mjs").Race} */
export const thousand = {
  name: "thousand",
  async run({
    contestants,
    api,
    baseline: measureBaseline,
    namespace,
    report,
    rounds: elections = usualElections,
  }) {
    const baseline = await measureBaseline();
    /** @type {Record<string, Cost>} */
    const results = {};
    for (const kind of kinds) {
      const name = await namespace("thousand");
      const flags = { namespace: name, name: "office", count: elections };
      report(`thousand: ${elections} elections of ${kind}, one process leads`);
      const leader = contestants.start(kind, flags);
      await heardOfAll(leader, "started-leading", elections);
      report(`thousand: ${elections} elections of ${kind}, another one waits`);
      const waiting = contestants.start(kind, flags);
      await heardOfAll(waiting, "new-leader", elections);
      await delay(settleMs);
      const before = leader.lines.length + waiting.lines.length;
      results[kind] = await measure(api, leader, waiting, baseline);
      const changes = leader.lines.length + waiting.lines.length - before;
      if (changes > 0) report(`thousand: ${kind} was not idle, ${changes} changes of leaders`);
      await Promise.all([leader.kill(), waiting.kill()]);
    }
    const { ours, "client-go": clientGo } = results;
    if (!ours || !clientGo) throw new Error("not all kinds were measured");
    /** @param {string} figure @param {string} unit @param {(cost: Cost) => number} of */
    const row = (figure, unit, of) => ({
      race: "thousand",
      figure,
      unit,
      ours: of(ours),
      clientGo: of(clientGo),
    });
    const note =
      "a twentieth is in reach only of what waits: a leader writes every one of its Leases, ours every 3 s and client-go's every 2 s, and none could write a 15 s lease every 40 s; the floor is a write every 5 s";
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
      row("CPU, leading", "% of a core", ({ leading }) => leading.cpuPercent),
      row("memory, waiting", "MB", ({ waiting }) => waiting.memoryMb),
      row("memory, leading", "MB", ({ leading }) => leading.memoryMb),
    ];
  },
};

/** @param {Contestant} contestant @param {string} event @param {number} elections */
async function heardOfAll(contestant, event, elections) {
  /** @type {Set<string>} */
  const elected = new Set();
  /** @param {import("../lib/contestants.mjs").Line} line */
  const count = (line) => {
    if (line.event === event && line.leader !== "") elected.add(line.election);
    return elected.size === elections;
  };
  await contestant.heard(count, startTimeoutMs, `say "${event}" in all elections`);
}

/**
 * @param {import("../lib/api.mjs").Api} api
 * @param {Contestant} leader
 * @param {Contestant} waiting
 * @param {import("../lib/metrics.mjs").Rate} baseline
 */
async function measure(api, leader, waiting, baseline) {
  const cpu = async () => [await leader.cpuMs(), await waiting.cpuMs(), monoMs()];
  const [leaderBefore = 0, waitingBefore = 0, startedMs = 0] = await cpu();
  const rate = less(await leaseRate(api, windowMs), baseline);
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
