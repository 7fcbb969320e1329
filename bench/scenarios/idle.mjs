// @ts-check
/**
 * The cost of an election without changes: requests for Leases per minute, as counted by the API server minus its own requests,
 * and the memory of a waiting candidate.
 */
import { setTimeout as delay } from "node:timers/promises";
import { kinds } from "../lib/candidates.mjs";
import { leaseRate, subtractBaseline } from "../lib/metrics.mjs";
import { median } from "../lib/statistics.mjs";
import { firstToLead, killAll, startMany } from "./scenario.mjs";

const sizes = [3, 100];
/** Contains 20 renewals of tenure and 30 of client-go: one more or less at the edges is 5 %. */
const windowMs = 60_000;
/** By then the requests of the start, such as a second read, are over. */
const settleMs = 5_000;

/** @type {import("./scenario.mjs").Scenario} */
export const idle = {
  name: "idle",
  async run({ candidates, api, baseline: measureBaseline, namespace, report }) {
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
        const group = await startMany(size, () => candidates.start(kind, { namespace: name, name: "lease" }));
        const { candidate: leader } = await firstToLead(group);
        await delay(settleMs);
        rates[kind] = subtractBaseline(await leaseRate(api, windowMs), baseline);
        const waiting = group.filter((one) => one !== leader);
        memory[kind] = median(await Promise.all(waiting.map((one) => one.memoryMb())));
        await killAll(group);
      }
      const { ours, "client-go": clientGo } = rates;
      figures.push({
        scenario: "idle",
        figure: `requests per minute, ${size} candidates`,
        unit: "",
        ours: ours?.perMinute ?? Number.NaN,
        clientGo: clientGo?.perMinute ?? Number.NaN,
        atMost: 22,
        note: `with ${size} candidates tenure has ${ours?.openWatches} open watches, client-go ${clientGo?.openWatches}`,
      });
    }
    figures.push({
      scenario: "idle",
      figure: "memory of a waiting candidate, p50",
      unit: "MB",
      ours: memory.ours ?? Number.NaN,
      clientGo: memory["client-go"] ?? Number.NaN,
      atMost: 55,
      samples: Math.max(...sizes) - 1,
    });
    return figures;
  },
};
