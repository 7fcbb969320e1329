// @ts-check
/** All versions of all objects that anybody saw, from answers, lists and watches together. */

/**
 * @typedef {import("./history.mjs").ObjectHistory} ObjectHistory
 * @typedef {import("./history.mjs").Request} Request
 *
 * @typedef {object} Version
 * @property {number} revision
 * @property {string | undefined} value undefined: the object was deleted
 *
 * @typedef {object} ObjectFinding
 * @property {"lost-write" | "revision-back" | "watch-gap" | "wrong-read" | "unclear-error" | "no-answer" | "no-progress"} kind
 * @property {string} text
 */

export class Versions {
  /** @type {Map<string, Version[]>} sorted by revision */
  #byObject = new Map();
  /** @type {ObjectFinding[]} */
  findings = [];

  /** @param {ObjectHistory} history */
  constructor({ requests, segments }) {
    /** @type {Map<string, Map<number, string | undefined>>} */
    const found = new Map();
    /** @param {string} object @param {number} revision @param {string | undefined} value */
    const add = (object, revision, value) => {
      const versions = found.get(object) ?? new Map();
      found.set(object, versions);
      if (versions.has(revision) && versions.get(revision) !== value)
        this.findings.push({
          kind: "wrong-read",
          text: `${object} has two values at revision ${revision}: ${versions.get(revision)} and ${value}`,
        });
      else versions.set(revision, value);
    };
    for (const { what, outcome, object = "", value, found: read, revision, items = [] } of requests) {
      if (outcome !== "ok") continue;
      if (what === "write" && revision !== undefined) add(object, revision, value);
      if (what === "read" && revision !== undefined) add(object, revision, read);
      for (const item of items) add(item.object, item.revision, item.value);
    }
    for (const { events } of segments)
      for (const { object, revision, value } of events) add(object, revision, value);
    for (const [object, versions] of found) {
      const sorted = [...versions].map(([revision, value]) => ({ revision, value }));
      this.#byObject.set(
        object,
        sorted.sort((a, b) => a.revision - b.revision),
      );
    }
  }

  get objects() {
    return [...this.#byObject.keys()];
  }

  /** @param {string} object */
  of(object) {
    return this.#byObject.get(object) ?? [];
  }

  /** The newest version up to a revision. @param {string} object @param {number} revision */
  at(object, revision) {
    return this.of(object).findLast((version) => version.revision <= revision);
  }

  /** The version that replaced a revision. @param {string} object @param {number} revision */
  after(object, revision) {
    return this.of(object).find((version) => version.revision > revision);
  }
}
