// @ts-check
/**
 * What every race gets, and what several need.
 *
 * @typedef {object} Stage
 * @property {import("../lib/api.mjs").Api} api
 * @property {import("../lib/contestants.mjs").Contestants} contestants
 * @property {import("../../test/kube/cluster.mjs").Cluster} cluster
 * @property {number | undefined} rounds how often, where somebody asked for another number than the race's own
 * @property {(line: string) => void} report progress
 * @property {(name: string) => Promise<string>} namespace makes one with a new name
 * @property {() => Promise<import("../lib/metrics.mjs").Rate>} baseline the API server's own traffic about Leases, measured
 *   at the first call, which must be while no candidate runs
 *
 * @typedef {object} Race
 * @property {string} name
 * @property {(stage: Stage) => Promise<import("../lib/figures.mjs").Figure[]>} run
 *
 * @typedef {import("../lib/contestants.mjs").Contestant} Contestant
 * @typedef {import("../lib/contestants.mjs").Kind} Kind
 */

/** One after the other: what is measured in milliseconds must not share the machine with a process that starts. */
export class Turns {
  /** @type {Promise<unknown>} */
  #last = Promise.resolve();

  /** @template T @param {() => Promise<T>} action @returns {Promise<T>} */
  take(action) {
    const result = this.#last.then(action);
    this.#last = result.catch(() => {});
    return result;
  }
}

/**
 * Starts many, a few at a time, and waits until each knows who leads.
 *
 * @param {number} count
 * @param {() => Contestant} start
 */
export async function startMany(count, start) {
  const atOnce = 4;
  /** @type {Contestant[]} */
  const started = [];
  while (started.length < count) {
    const batch = Array.from({ length: Math.min(atOnce, count - started.length) }, start);
    started.push(...batch);
    await Promise.all(batch.map((contestant) => contestant.settled()));
  }
  return started;
}

/** @param {readonly Contestant[]} contestants */
export function firstToLead(contestants) {
  return Promise.any(
    contestants.map((contestant) => contestant.leads().then((line) => ({ contestant, line }))),
  );
}

/** @param {readonly Contestant[]} contestants */
export async function killAll(contestants) {
  await Promise.all(contestants.map((contestant) => contestant.kill()));
}
