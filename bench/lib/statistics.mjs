// @ts-check

/**
 * The nearest-rank percentile, which is always a measured value.
 *
 * @param {readonly number[]} values
 * @param {number} part in [0, 1]
 */
export function percentile(values, part) {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(part * sorted.length) - 1)] ?? Number.NaN;
}

/** @param {readonly number[]} values */
export function median(values) {
  return percentile(values, 0.5);
}
