// @ts-check
/**
 * Whether a process keeps what it should have given back. What it never had less of in its last samples is compared with
 * the most that it had in its first ones, so that neither a burst of connections nor garbage that waits to be collected is
 * taken for a leak. Processes that did not live long enough to tell are not judged.
 */

/**
 * @typedef {{ descriptors: number, megabytes: number }} Usage
 * @typedef {{ id: string, first: Usage, last: Usage, livedSeconds: number }} Growth
 */

/** Samples at the begin and at the end that are compared; one is taken each second. */
const windowSamples = 10;
/** While a process starts, it grows. */
const warmUpSamples = 5;
/** A leader has a child, a candidate in a partition tries new connections: these come and go. */
export const mostDescriptors = 12;
/** What the heap of Node may grow by until it is worth collecting. */
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
