// @ts-check
/**
 * Failover after kill -9 among three candidates: how long past the expiry of the lease the new leader starts. The lease
 * expires one lease duration after its last renewal came through a watch of our own.
 */
import { setTimeout as delay } from "node:timers/promises";
import { kinds } from "../lib/contestants.mjs";
import { percentile } from "../lib/statistics.mjs";
import { firstToLead, killAll, startMany } from "./stage.mjs";

/** @typedef {import("./stage.mjs").Kind} Kind */

/** Of each kind at once, as a round is 15 seconds of waiting. */
const elections = 8;
/** Leaders die spread over this, so that the failovers do not queue behind each other. */
const spreadMs = 4_000;

/** @type {import("./stage.mjs").Race} */
export const crash = {
  name: "crash",
  async run({ contestants, api, rounds = 3, namespace, report }) {
    const name = await namespace("crash");
    /** @type {Map<string, { holder: string, seenMs: number, durationMs: number }>} the last record of each holder */
    const renewals = new Map();
    const endWatch = await api.watchLeases(name, ({ lease, seenMs }) => {
      const { holderIdentity: holder = "", leaseDurationSeconds = 0 } = lease.spec;
      renewals.set(holder, { holder, seenMs, durationMs: leaseDurationSeconds * 1_000 });
    });
    /** @type {Record<Kind, number[]>} */
    const samples = { ours: [], "client-go": [] };
    const contests = kinds.flatMap((kind) =>
      Array.from({ length: elections }, (_, index) => ({
        kind,
        start: () => contestants.start(kind, { namespace: name, name: `${kind}-${index}` }),
        /** @type {import("./stage.mjs").Contestant[]} */
        players: [],
      })),
    );
    for (let round = 1; round <= rounds; round++) {
      // Nobody starts while the clock runs.
      for (const contest of contests) {
        contest.players.push(...(await startMany(3 - contest.players.length, contest.start)));
      }
      report(`crash: round ${round} of ${rounds}, ${elections} elections of each kind`);
      await Promise.all(
        contests.map(async (contest) => {
          const { contestant: leader } = await firstToLead(contest.players);
          const waiting = contest.players.filter((player) => player !== leader);
          await delay(Math.random() * spreadMs);
          const succeeded = firstToLead(waiting);
          await leader.kill();
          const { line } = await succeeded;
          const last = renewals.get(leader.id);
          if (!last) throw new Error(`the watch never saw ${leader.id} lead`);
          samples[contest.kind].push(line.monoMs - (last.seenMs + last.durationMs));
          contest.players = waiting;
        }),
      );
    }
    await killAll(contests.flatMap(({ players }) => players));
    endWatch();
    return [figure("p50", 0.5, 50, samples), figure("p95", 0.95, 150, samples)];
  },
};

/**
 * @param {string} name @param {number} part @param {number} atMost @param {Record<Kind, number[]>} samples
 * @returns {import("../lib/figures.mjs").Figure}
 */
function figure(name, part, atMost, samples) {
  return {
    race: "crash",
    figure: `lease expired to work started, ${name}`,
    unit: "ms",
    ours: percentile(samples.ours, part),
    clientGo: percentile(samples["client-go"], part),
    atMost,
    samples: samples.ours.length,
  };
}
