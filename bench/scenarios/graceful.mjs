// @ts-check
/**
 * Graceful handover among three candidates: from the moment when the old leader's work has stopped to the moment when the
 * new leader's work starts, both timestamped by the processes themselves. This includes the release, its watch event and the
 * acquisition. In both programs the work ends right after SIGTERM, before the lease is released.
 */
import { setTimeout as delay } from "node:timers/promises";
import { kinds } from "../lib/candidates.mjs";
import { percentile } from "../lib/statistics.mjs";
import { firstToLead, killAll, Mutex, startMany } from "./scenario.mjs";

/** @typedef {import("./scenario.mjs").Kind} Kind */

/** Elections of each kind that run in parallel, because a round is mostly waiting. */
const elections = 4;
/** A random pause makes the phase of client-go's polls independent of its start; its longest pause is 4.4 s. */
const shortestPauseMs = 2_200;
const pauseRangeMs = 4_400;

/** @type {import("./scenario.mjs").Scenario} */
export const graceful = {
  name: "graceful",
  async run({ candidates, rounds = 40, namespace, report }) {
    const name = await namespace("graceful");
    const mutex = new Mutex();
    /** @type {Record<Kind, number[]>} */
    const samples = { ours: [], "client-go": [] };

    /** @param {Kind} kind @param {number} index @param {number} share */
    const runElection = async (kind, index, share) => {
      const start = () => candidates.start(kind, { namespace: name, name: `${kind}-${index}` });
      const all = await mutex.run(() => startMany(3, start));
      let { candidate: leader } = await firstToLead(all);
      let waiting = all.filter((one) => one !== leader);
      for (let round = 0; round < share; round++) {
        await delay(shortestPauseMs + Math.random() * pauseRangeMs);
        await mutex.run(async () => {
          const succeeded = firstToLead(waiting);
          leader.signal("SIGTERM");
          const { candidate: successor, line } = await succeeded;
          await leader.exited;
          const stopped = leader.lines.find(({ event }) => event === "work-stopped");
          samples[kind].push(line.monoMs - (stopped?.monoMs ?? Number.NaN));
          leader = successor;
          const replacement = start();
          await replacement.knowsLeader();
          waiting = [...waiting.filter((one) => one !== successor), replacement];
        });
      }
      await killAll([leader, ...waiting]);
    };

    report(`graceful: ${rounds} handovers of each kind, in ${elections} elections of each`);
    await Promise.all(
      kinds.flatMap((kind) =>
        Array.from({ length: elections }, (_, index) =>
          runElection(kind, index, Math.floor((rounds + index) / elections)),
        ),
      ),
    );
    return [figure("p50", 0.5, 30, samples), figure("p95", 0.95, 80, samples)];
  },
};

/**
 * @param {string} name @param {number} part @param {number} atMost @param {Record<Kind, number[]>} samples
 * @returns {import("../lib/figures.mjs").Figure}
 */
function figure(name, part, atMost, samples) {
  return {
    scenario: "graceful",
    figure: `old leader stopped work to new leader started work, ${name}`,
    unit: "ms",
    ours: percentile(samples.ours, part),
    clientGo: percentile(samples["client-go"], part),
    atMost,
    samples: samples.ours.length,
  };
}
