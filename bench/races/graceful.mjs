// @ts-check
/**
 * Graceful handover among three candidates: from the moment when the old leader's work has stopped to the moment when the
 * new leader's work starts, both stamped by the processes themselves. On the way are the release, the news of it, and the
 * acquisition. In both programs the work ends right after SIGTERM, and before the lease is given back.
 */
import { setTimeout as delay } from "node:timers/promises";
import { kinds } from "../lib/contestants.mjs";
import { percentile } from "../lib/statistics.mjs";
import { firstToLead, killAll, startMany, Turns } from "./stage.mjs";

/** @typedef {import("./stage.mjs").Kind} Kind */

/** So many elections of each kind at once, as most of a round is waiting. */
const elections = 4;
/** A poller's phase must not depend on when we started it; client-go's longest pause is 4.4 s. */
const shortestPauseMs = 2_200;
const pauseRangeMs = 4_400;

/** @type {import("./stage.mjs").Race} */
export const graceful = {
  name: "graceful",
  async run({ contestants, rounds = 40, namespace, report }) {
    const name = await namespace("graceful");
    const turns = new Turns();
    /** @type {Record<Kind, number[]>} */
    const samples = { ours: [], "client-go": [] };

    /** @param {Kind} kind @param {number} index @param {number} share */
    const play = async (kind, index, share) => {
      const start = () => contestants.start(kind, { namespace: name, name: `${kind}-${index}` });
      const all = await turns.take(() => startMany(3, start));
      let { contestant: leader } = await firstToLead(all);
      let waiting = all.filter((one) => one !== leader);
      for (let round = 0; round < share; round++) {
        await delay(shortestPauseMs + Math.random() * pauseRangeMs);
        await turns.take(async () => {
          const succeeded = firstToLead(waiting);
          leader.signal("SIGTERM");
          const { contestant: successor, line } = await succeeded;
          await leader.exited;
          const stopped = leader.lines.find(({ event }) => event === "work-stopped");
          samples[kind].push(line.monoMs - (stopped?.monoMs ?? Number.NaN));
          leader = successor;
          const entrant = start();
          await entrant.settled();
          waiting = [...waiting.filter((one) => one !== successor), entrant];
        });
      }
      await killAll([leader, ...waiting]);
    };

    report(`graceful: ${rounds} handovers of each kind, in ${elections} elections of each`);
    await Promise.all(
      kinds.flatMap((kind) =>
        Array.from({ length: elections }, (_, index) =>
          play(kind, index, Math.floor((rounds + index) / elections)),
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
    race: "graceful",
    figure: `work stopped there to work started here, ${name}`,
    unit: "ms",
    ours: percentile(samples.ours, part),
    clientGo: percentile(samples["client-go"], part),
    atMost,
    samples: samples.ours.length,
  };
}
