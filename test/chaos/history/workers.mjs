// @ts-check
/** Who worked when: the operations of a history by worker process and by term. */

/**
 * @typedef {import("./history.mjs").Operation} Operation
 *
 * @typedef {object} Worker one process that works for one term
 * @property {string} id
 * @property {bigint} token
 * @property {number} pid
 * @property {boolean} checks
 * @property {number} firstMs
 * @property {number} lastMs
 * @property {number} untilMs the last deadline that it saw
 *
 * @typedef {object} Term
 * @property {number} epoch how often the store had fallen back to older revisions before
 * @property {string} id
 * @property {bigint} token
 * @property {number} firstMs
 * @property {number} lastMs
 */

/** The identity with which the test itself reads a register. It is no candidate. */
export const observer = "observer";

/** @param {Operation} operation */
export const workerKey = ({ id, token, pid }) => `${id} ${token} ${pid}`;

/**
 * @param {Operation[]} operations
 * @returns {Map<string, Worker>} by key, in the order of their first operation
 */
export function workersOf(operations) {
  /** @type {Map<string, Worker>} */
  const workers = new Map();
  for (const operation of operations) {
    if (operation.id === observer) continue;
    const { id, token, pid, checks, invokedMs: firstMs, untilMs } = operation;
    const key = workerKey(operation);
    const worker = workers.get(key) ?? { id, token, pid, checks, firstMs, lastMs: firstMs, untilMs };
    workers.set(key, worker);
    worker.lastMs = Math.max(worker.lastMs, lastSignOf(operation));
    worker.untilMs = Math.max(worker.untilMs, untilMs);
  }
  return workers;
}

/**
 * After a restore the same candidate can win the same revision again. That is another term.
 * @param {Iterable<Worker>} workers
 * @param {import("./history.mjs").Restore[]} restores
 * @returns {Term[]} in the order of their first operation
 */
export function termsOf(workers, restores) {
  const falls = restores.filter(({ bumped }) => !bumped);
  /** @type {Map<string, Term>} */
  const terms = new Map();
  for (const { id, token, firstMs, lastMs } of workers) {
    const epoch = falls.filter(({ toMs }) => toMs <= firstMs).length;
    const key = `${epoch} ${id} ${token}`;
    const term = terms.get(key) ?? { epoch, id, token, firstMs, lastMs };
    terms.set(key, term);
    term.lastMs = Math.max(term.lastMs, lastMs);
  }
  return [...terms.values()];
}

/**
 * A worker that checks the clock works only at the moment of its check: what follows may be delayed for any time, and only
 * a fenced register is safe from it. A worker that does not check must be dead when its term is over, so a received answer
 * counts too.
 * @param {Operation} operation
 */
function lastSignOf({ checks, invokedMs, returnedMs }) {
  return checks || returnedMs === Number.POSITIVE_INFINITY ? invokedMs : returnedMs;
}

/** @param {Omit<Term, "epoch">} term */
export function describe({ id, token, firstMs, lastMs }) {
  return `${id} (token ${token}, ${firstMs.toFixed(0)}–${lastMs.toFixed(0)})`;
}
