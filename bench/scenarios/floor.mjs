// @ts-check
/** How long this machine takes for the requests of an election, without an election. */
import { Api } from "../lib/api.mjs";
import { monoMs } from "../lib/clock.mjs";
import { percentile } from "../lib/statistics.mjs";

/** @typedef {import("../lib/api.mjs").Lease} Lease */

/** @type {import("./scenario.mjs").Scenario} */
export const floor = {
  name: "floor",
  async run({ cluster, api, rounds = 200, namespace, report }) {
    const name = await namespace("floor");
    // A separate client, because a real successor is another process with another connection.
    const successor = new Api(cluster);
    /** @type {(lease: Lease) => void} */
    let onReleased = () => {};
    const endWatch = await api.watchLeases(name, ({ lease }) => {
      if (lease.spec.holderIdentity === "") onReleased(lease);
    });
    /** @type {number[]} */
    const writes = [];
    /** @type {number[]} */
    const handovers = [];
    report(`floor: ${rounds} writes, then ${rounds} pairs of writes with a watch event between them`);
    try {
      let lease = await successor.createLease(name, "floor", {
        holderIdentity: "a",
        leaseDurationSeconds: 15,
      });
      for (let round = 0; round < rounds; round++) {
        const startedMs = monoMs();
        lease = await api.updateLease(heldBy(`w${round}`, lease));
        writes.push(monoMs() - startedMs);
      }
      for (let round = 0; round < rounds; round++) {
        const startedMs = monoMs();
        /** @type {Promise<Lease>} */
        const taken = new Promise((resolve, reject) => {
          onReleased = (seen) => successor.updateLease(heldBy("b", seen)).then(resolve, reject);
        });
        await api.updateLease(heldBy("", lease));
        lease = await taken;
        handovers.push(monoMs() - startedMs);
      }
    } finally {
      endWatch();
      successor.close();
    }
    return [
      ...figures("one write and its answer", writes),
      ...figures("two writes and the event between them", handovers),
    ];
  },
};

/** @param {string} holderIdentity @param {Lease} lease @returns {Lease} */
function heldBy(holderIdentity, lease) {
  return { ...lease, spec: { ...lease.spec, holderIdentity } };
}

/** @param {string} what @param {number[]} samples @returns {import("../lib/figures.mjs").Figure[]} */
function figures(what, samples) {
  const figure = (/** @type {string} */ name, /** @type {number} */ part) => ({
    scenario: "floor",
    figure: `${what}, ${name}`,
    unit: "ms",
    floor: percentile(samples, part),
    samples: samples.length,
  });
  return [figure("p50", 0.5), figure("p95", 0.95)];
}
