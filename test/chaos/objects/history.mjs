// @ts-check
/**
 * The part of a history that is about objects in an API: what clients wrote and read through several servers, and what watches
 * reported. Each value is written once, so a version of an object is known by its value as well as by its revision.
 */

/**
 * @typedef {object} Invoked a client is about to send a request
 * @property {"object-invoke"} kind
 * @property {number} op the number of the request, different for each of the run
 * @property {string} server
 * @property {"write" | "delete" | "read" | "list"} what
 * @property {string} [object] its name; a list has none
 * @property {string} [value] to write
 * @property {number} [over] the revision that the write replaces; without it the write creates the object
 * @property {number} atMs
 *
 * @typedef {object} Item an object in a list
 * @property {string} object
 * @property {string} value
 * @property {number} revision
 *
 * @typedef {object} Returned
 * @property {"object-return"} kind
 * @property {number} op
 * @property {"ok" | "refused" | "unavailable" | "unclear" | "none"} outcome refused: it had no effect. unavailable: the server
 *   said that its store does not answer. unclear: it said something else. none: there was no answer
 * @property {number} [revision] of the object, or of the list
 * @property {string} [value] that was read; without it there is no such object
 * @property {Item[]} [items] of a list
 * @property {string} [text] of an error
 * @property {number} atMs
 *
 * @typedef {{ kind: "object-watch", watcher: string, server: string, after: number, isNew: boolean }} WatchStarted isNew: the
 *   watcher has listed the objects again, at this revision; otherwise it goes on where it was
 * @typedef {{ kind: "object-event", watcher: string, object: string, value?: string, revision: number }} WatchEvent without a
 *   value: the object was deleted
 * @typedef {{ kind: "object-outage", server: string, fromMs: number, toMs: number }} Outage the server was frozen or dead
 * @typedef {{ kind: "object-majority", fromMs: number, toMs: number, backMs: number }} MajorityLost most members of the store were
 *   dead until toMs. Then one of them was started, and was ready at backMs
 * @typedef {{ kind: "object-end", revision: number }} End every watch has to reach this revision
 *
 * @typedef {Invoked | Returned | WatchStarted | WatchEvent | Outage | MajorityLost | End} ObjectEntry
 *
 * @typedef {Omit<Invoked, "kind"> & Omit<Returned, "kind" | "op" | "atMs" | "value"> & { found?: string | undefined, returnedMs: number }} Request
 *
 * @typedef {object} Segment what one watcher saw between two lists
 * @property {string} watcher
 * @property {number} after
 * @property {WatchEvent[]} events
 *
 * @typedef {object} ObjectHistory
 * @property {Request[]} requests in the order in which they were sent
 * @property {Segment[]} segments
 * @property {Outage[]} outages
 * @property {MajorityLost[]} majorityLost
 * @property {number | undefined} endRevision
 */

/** @param {Iterable<string> | AsyncIterable<string>} lines @returns {Promise<ObjectHistory>} */
export async function readObjectHistory(lines) {
  /** @type {ObjectHistory} */
  const history = { requests: [], segments: [], outages: [], majorityLost: [], endRevision: undefined };
  /** @type {Map<number, Request>} */
  const requests = new Map();
  /** @type {Map<string, Segment>} */
  const current = new Map();
  for await (const line of lines) {
    if (!line.includes('"kind":"object-')) continue;
    /** @type {ObjectEntry} */
    const entry = JSON.parse(line);
    switch (entry.kind) {
      case "object-invoke": {
        const { kind, ...facts } = entry;
        const request = {
          ...facts,
          outcome: /** @type {const} */ ("none"),
          returnedMs: Number.POSITIVE_INFINITY,
        };
        requests.set(entry.op, request);
        history.requests.push(request);
        break;
      }
      case "object-return": {
        const { kind, op, atMs, value, ...facts } = entry;
        Object.assign(requests.get(op) ?? {}, { ...facts, returnedMs: atMs, found: value });
        break;
      }
      case "object-watch":
        if (entry.isNew || !current.has(entry.watcher)) {
          const segment = { watcher: entry.watcher, after: entry.after, events: [] };
          current.set(entry.watcher, segment);
          history.segments.push(segment);
        }
        break;
      case "object-event":
        current.get(entry.watcher)?.events.push(entry);
        break;
      case "object-outage":
        history.outages.push(entry);
        break;
      case "object-majority":
        history.majorityLost.push(entry);
        break;
      case "object-end":
        history.endRevision = entry.revision;
    }
  }
  return history;
}
