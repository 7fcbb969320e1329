// @ts-check
/** Checks of a history that are about terms: overlapping work, the order of tokens, work after the end of a term. */
import { describe, observer, workerKey } from "./workers.mjs";

/**
 * @typedef {import("./history.mjs").History} History
 * @typedef {import("./workers.mjs").Worker} Worker
 * @typedef {import("./workers.mjs").Term} Term
 *
 * @typedef {"overlap" | "token-order" | "stale-write" | "lost-write" | "phantom-read" | "after-end" | "register"} Kind
 * @typedef {object} Finding
 * @property {Kind} kind
 * @property {number} atMs
 * @property {string} text
 * @property {boolean} [stalled] the machine did not run the processes in time, so it is not known whose fault it is
 */

/**
 * A worker that does not check the clock is killed by `tenure run` half a second before its hard deadline. If the machine
 * did not run processes for half of that time, the kill may be late.
 */
const mostStallMs = 250;
/** How long before the deadline a stall may delay the kill. */
const killWindowMs = 1_500;

/**
 * Workers that worked at the same time. A restore of the store is no excuse.
 * @param {History} history
 * @param {Worker[]} workers in the order of their first operation
 * @returns {Finding[]}
 */
export function findOverlaps(history, workers) {
  /** @type {Finding[]} */
  const findings = [];
  /** @type {Worker | undefined} */
  let longest;
  for (const worker of workers) {
    if (longest && longest.lastMs >= worker.firstMs) {
      findings.push({
        kind: "overlap",
        atMs: worker.firstMs,
        text: `${describe(longest)} and ${describe(worker)} work at the same time for ${(longest.lastMs - worker.firstMs).toFixed(1)} ms`,
        stalled: isKillDelayed(history, longest, longest.lastMs),
      });
    }
    if (!longest || worker.lastMs > longest.lastMs) longest = worker;
  }
  return findings;
}

/**
 * A later term must have a greater token, unless the store has fallen back to older revisions in between.
 * @param {Term[]} terms in the order of their first operation
 * @returns {Finding[]}
 */
export function findTokenDisorder(terms) {
  return terms.slice(1).flatMap((next, index) => {
    const term = /** @type {Term} */ (terms[index]);
    if (next.epoch > term.epoch || next.token > term.token) return [];
    const text = `${describe(term)} and ${describe(next)}: the later token is not greater`;
    return { kind: /** @type {const} */ ("token-order"), atMs: next.firstMs, text };
  });
}

/**
 * Operations that began after the term of their worker had ended, or after the last moment at which it could be valid.
 * @param {History} history
 * @param {Map<string, Worker>} workers
 * @returns {Finding[]}
 */
export function findWorkAfterEnd(history, workers) {
  /** @type {Map<string, number>} */
  const ends = new Map();
  for (const [key, { id, token, firstMs }] of workers) {
    // An earlier end belongs to a term before a restore, in which the same candidate won the same revision.
    const own = history.ended.filter(
      (end) => end.id === id && BigInt(end.token) === token && end.atMs >= firstMs,
    );
    ends.set(key, Math.min(...own.map(({ atMs }) => atMs)));
  }
  return history.operations.flatMap((operation) => {
    const { id, token, pid, invokedMs, untilMs, what } = operation;
    if (id === observer) return [];
    const endMs = Math.min(ends.get(workerKey(operation)) ?? Number.POSITIVE_INFINITY, untilMs);
    if (invokedMs <= endMs) return [];
    const late = (invokedMs - endMs).toFixed(1);
    return {
      kind: /** @type {const} */ ("after-end"),
      atMs: invokedMs,
      text: `process ${pid} of ${id} (token ${token}) began a ${what} ${late} ms after the end of its term`,
      stalled: isKillDelayed(history, operation, invokedMs),
    };
  });
}

/**
 * @param {History} history
 * @param {{ checks: boolean, untilMs: number }} worker
 * @param {number} atMs when it should have been dead
 */
function isKillDelayed({ stalls }, { checks, untilMs }, atMs) {
  if (checks) return false;
  const fromMs = Math.min(untilMs, atMs) - killWindowMs;
  const stalledMs = stalls.reduce(
    (sum, stall) => sum + Math.max(0, Math.min(stall.toMs, atMs) - Math.max(stall.fromMs, fromMs)),
    0,
  );
  return stalledMs >= mostStallMs;
}
