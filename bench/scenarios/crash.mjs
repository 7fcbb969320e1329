// @ts-check
/**
 * Failover after kill -9 among three candidates: the time from the expiry of the lease to the start of the new leader. The lease
 * expires one lease duration after the benchmark's own watch saw its last renewal.
 */
import { setTimeout as delay } from "node:timers/promises";
import { kinds } from "../lib/candidates.mjs";
import { percentile } from "../lib/statistics.mjs";
import { firstToLead, killAll, startMany } from "./scenario.mjs";

/** @typedef {import("./scenario.mjs").Kind} Kind */

/** Elections of each kind that run in parallel, because a round is mostly 15 s of waiting. */
const electionCount = 8;
/** Leaders are killed at random times within this span, so that the failovers do not queue behind each other. */
const spreadMs = 4_000;

/** @type {import("./scenario.mjs").Scenario} */
export const crash = {
  name: "crash",
  async run({ candidates, api, rounds = 3, namespace, report }) {
    const name = await namespace("crash");
    /** @type {Map<string, { holder: string, seenMs: number, durationMs: number }>} the last record of each holder */
    const renewals = new Map();
    const endWatch = await api.watchLeases(name, ({ lease, seenMs }) => {
      const { holderIdentity: holder = "", leaseDurationSeconds = 0 } = lease.spec;
      renewals.set(holder, { holder, seenMs, durationMs: leaseDurationSeconds * 1_000 });
    });
    /** @type {Record<Kind, number[]>} */
    const samples = { ours: [], "client-go": [] };
    const elections = kinds.flatMap((kind) =>
      Array.from({ length: electionCount }, (_, index) => ({
        kind,
        start: () => candidates.start(kind, { namespace: name, name: `${kind}-${index}` }),
        /** @type {import("./scenario.mjs").CandidateProcess[]} */
        group: [],
      })),
    );
    for (let round = 1; round <= rounds; round++) {
      // Start all processes before the measurement.
      for (const election of elections) {
        election.group.push(...(await startMany(3 - election.group.length, election.start)));
      }
      report(`crash: round ${round} of ${rounds}, ${electionCount} elections of each kind`);
      await Promise.all(
        elections.map(async (election) => {
          const { candidate: leader } = await firstToLead(election.group);
          const waiting = election.group.filter((one) => one !== leader);
          await delay(Math.random() * spreadMs);
          const succeeded = firstToLead(waiting);
          await leader.kill();
          const { line } = await succeeded;
          const last = renewals.get(leader.id);
          if (!last) throw new Error(`The watch never saw a renewal by ${leader.id}`);
          samples[election.kind].push(line.monoMs - (last.seenMs + last.durationMs));
          election.group = waiting;
        }),
      );
    }
    await killAll(elections.flatMap(({ group }) => group));
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
    scenario: "crash",
    figure: `lease expired to work started, ${name}`,
    unit: "ms",
    ours: percentile(samples.ours, part),
    clientGo: percentile(samples["client-go"], part),
    atMost,
    samples: samples.ours.length,
  };
}
