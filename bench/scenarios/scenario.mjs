// @ts-check
/**
 * The context that every scenario gets, and shared helpers.
 *
 * @typedef {object} Context
 * @property {import("../lib/api.mjs").Api} api
 * @property {import("../lib/candidates.mjs").CandidateProcesses} candidates
 * @property {import("../../test/kube/cluster.mjs").Cluster} cluster
 * @property {number | undefined} rounds number of rounds from the command line; undefined: the scenario's default
 * @property {(line: string) => void} report prints progress
 * @property {(name: string) => Promise<string>} namespace creates one with a new name
 * @property {() => Promise<import("../lib/metrics.mjs").Rate>} baseline the API server's own Lease requests, measured at the
 *   first call, when no candidate may run
 *
 * @typedef {object} Scenario
 * @property {string} name
 * @property {(context: Context) => Promise<import("../lib/figures.mjs").Figure[]>} run
 *
 * @typedef {import("../lib/candidates.mjs").CandidateProcess} CandidateProcess
 * @typedef {import("../lib/candidates.mjs").Kind} Kind
 */

/** Runs actions one at a time: starting a process must not disturb a measurement in milliseconds. */
export class Mutex {
  /** @type {Promise<unknown>} */
  #last = Promise.resolve();

  /** @template T @param {() => Promise<T>} action @returns {Promise<T>} */
  run(action) {
    const result = this.#last.then(action);
    this.#last = result.catch(() => {});
    return result;
  }
}

/**
 * Starts many candidates, a few at a time, and waits until each knows who leads.
 *
 * @param {number} count
 * @param {() => CandidateProcess} start
 */
export async function startMany(count, start) {
  const atOnce = 4;
  /** @type {CandidateProcess[]} */
  const started = [];
  while (started.length < count) {
    const batch = Array.from({ length: Math.min(atOnce, count - started.length) }, start);
    started.push(...batch);
    await Promise.all(batch.map((candidate) => candidate.knowsLeader()));
  }
  return started;
}

/** @param {readonly CandidateProcess[]} candidates */
export function firstToLead(candidates) {
  return Promise.any(candidates.map((candidate) => candidate.leads().then((line) => ({ candidate, line }))));
}

/** @param {readonly CandidateProcess[]} candidates */
export async function killAll(candidates) {
  await Promise.all(candidates.map((candidate) => candidate.kill()));
}
