// @ts-check
/** Runs one kind of trial many times, and prints how many runs kept their limit. */

/**
 * @typedef {object} Result
 * @property {number} ms what was measured
 * @property {number} [limitMs] a run above it is late
 * @property {string[]} [left] processes that still ran at the end
 *
 * @typedef {object} Group
 * @property {string} name
 * @property {string} what is measured
 * @property {number} times
 * @property {number} workers how many trials run at the same time
 * @property {number} [p50LimitMs]
 * @property {(index: number) => Promise<Result>} trial
 */

const nameWidth = 10;

/** @param {string} name @param {string} text */
export const print = (name, text) => console.log(`${name.padEnd(nameWidth)} ${text}`);

/** @param {Group} group @returns {Promise<boolean>} whether all runs kept the limit */
export async function play({ name, what, times, workers, p50LimitMs, trial }) {
  /** @type {number[]} */
  const results = [];
  /** @type {string[]} */
  const misses = [];
  const count = { late: 0, left: 0, failed: 0 };
  let next = 0;
  const worker = async () => {
    while (next < times) {
      const index = next++;
      try {
        const { ms, limitMs = Number.POSITIVE_INFINITY, left = [] } = await trial(index);
        results.push(ms);
        if (!(ms <= limitMs)) {
          count.late += 1;
          misses.push(`run ${index}: ${ms.toFixed(0)} ms`);
        }
        if (left.length > 0) {
          count.left += 1;
          misses.push(`run ${index}: still running: ${left.join("; ")}`);
        }
      } catch (error) {
        count.failed += 1;
        misses.push(`run ${index}: ${/** @type {Error} */ (error).message}`);
      }
    }
  };
  await Promise.all(Array.from({ length: Math.min(workers, times) }, worker));
  results.sort((a, b) => a - b);
  const at = (/** @type {number} */ part) =>
    results[Math.max(0, Math.ceil(results.length * part) - 1)] ?? Number.NaN;
  const [p50, p95, worst] = [0.5, 0.95, 1].map((part) => at(part).toFixed(0));
  if (p50LimitMs !== undefined && !(at(0.5) <= p50LimitMs)) misses.push(`p50 is above ${p50LimitMs} ms`);
  const limit = p50LimitMs === undefined ? "" : ` (≤ ${p50LimitMs})`;
  const bad = `${count.late} late, ${count.left} left${count.failed > 0 ? `, ${count.failed} failed` : ""}`;
  print(name, `${times} runs, ${bad}  ${what}: p50 ${p50}${limit}, p95 ${p95}, worst ${worst} ms`);
  for (const miss of misses) print("", `MISSED ${miss}`);
  return misses.length === 0;
}
