// @ts-check
/**
 * Detects leaks of file descriptors and memory. It compares the minimum of the last samples with the maximum of the first
 * ones, so that neither a burst of connections nor uncollected garbage counts as a leak. Processes that did not live long
 * enough are not judged.
 */

/**
 * @typedef {{ descriptors: number, megabytes: number }} Usage
 * @typedef {{ id: string, first: Usage, last: Usage, livedSeconds: number }} Growth
 */

/** How many samples at the start and at the end are compared. There is one sample per second. */
const windowSamples = 10;
/** Ignored, because a process grows while it starts. */
const warmUpSamples = 5;
/** The normal variation: a leader has a child, and a candidate in a partition opens new connections. */
export const mostDescriptors = 12;
/** How much the heap of Node may grow before it is collected. */
export const mostMegabytes = 40;

export class UsageLog {
  /** @type {Usage[]} */
  #first = [];
  /** @type {Usage[]} */
  #last = [];
  #count = 0;

  /** @param {string} id */
  constructor(id) {
    this.id = id;
  }

  /** @param {Usage} usage */
  add(usage) {
    this.#count += 1;
    if (this.#count <= warmUpSamples) return;
    if (this.#first.length < windowSamples) this.#first.push(usage);
    this.#last = [...this.#last, usage].slice(-windowSamples);
  }

  /** @returns {Growth | undefined} */
  growth() {
    if (this.#count < warmUpSamples + 2 * windowSamples) return undefined;
    const most = (/** @type {keyof Usage} */ what) => Math.max(...this.#first.map((usage) => usage[what]));
    const least = (/** @type {keyof Usage} */ what) => Math.min(...this.#last.map((usage) => usage[what]));
    return {
      id: this.id,
      first: { descriptors: most("descriptors"), megabytes: most("megabytes") },
      last: { descriptors: least("descriptors"), megabytes: least("megabytes") },
      livedSeconds: this.#count,
    };
  }
}

/** @param {Growth} growth */
export function isLeak({ first, last }) {
  return (
    last.descriptors - first.descriptors > mostDescriptors || last.megabytes - first.megabytes > mostMegabytes
  );
}

/** @param {Growth} growth */
export function describeGrowth({ id, first, last, livedSeconds }) {
  return (
    `${id}: descriptors ${first.descriptors} → ${last.descriptors}, ` +
    `memory ${first.megabytes.toFixed(0)} → ${last.megabytes.toFixed(0)} MB in ${livedSeconds} s`
  );
}
