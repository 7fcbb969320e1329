// @ts-check
/**
 * What an election costs while nothing happens: requests about Leases per minute, by the API server's own count less its
 * own traffic, and the memory of a candidate that waits.
 */
import { setTimeout as delay } from "node:timers/promises";
import { kinds } from "../lib/contestants.mjs";
import { leaseRate, less } from "../lib/metrics.mjs";
import { median } from "../lib/statistics.mjs";
import { firstToLead, killAll, startMany } from "./stage.mjs";

const sizes = [3, 100];
/** Twenty renewals of ours, thirty of client-go's: one more or less at the edges is 5 %. */
const windowMs = 60_000;
/** What the start left behind, such as a second read, is over by then. */
const settleMs = 5_000;

/** @type {import("./stage.mjs").Race} */
export const idle = {
  name: "idle",
  async run({ contestants, api, baseline: measureBaseline, namespace, report }) {
    const baseline = await measureBaseline();
    /** @type {import("../lib/figures.mjs").Figure[]} */
    const figures = [];
    /** @type {Record<string, number>} */
    const memory = {};
    for (const size of sizes) {
      /** @type {Record<string, import("../lib/metrics.mjs").Rate>} */
      const rates = {};
      for (const kind of kinds) {
        const name = await namespace(`idle-${size}`);
        report(`idle: ${size} candidates of ${kind}`);
        const players = await startMany(size, () =>
          contestants.start(kind, { namespace: name, name: "office" }),
        );
        const { contestant: leader } = await firstToLead(players);
        await delay(settleMs);
        rates[kind] = less(await leaseRate(api, windowMs), baseline);
        const waiting = players.filter((player) => player !== leader);
        memory[kind] = median(await Promise.all(waiting.map((player) => player.memoryMb())));
        await killAll(players);
      }
      const { ours, "client-go": clientGo } = rates;
      figures.push({
        race: "idle",
        figure: `requests per minute, ${size} candidates`,
        unit: "",
        ours: ours?.perMinute ?? Number.NaN,
        clientGo: clientGo?.perMinute ?? Number.NaN,
        atMost: 22,
        note: `with ${size} candidates ours has ${ours?.openWatches} watches open, client-go ${clientGo?.openWatches}`,
      });
    }
    figures.push({
      race: "idle",
      figure: "memory of a candidate that waits, p50",
      unit: "MB",
      ours: memory.ours ?? Number.NaN,
      clientGo: memory["client-go"] ?? Number.NaN,
      atMost: 55,
      samples: Math.max(...sizes) - 1,
    });
    return figures;
  },
};
