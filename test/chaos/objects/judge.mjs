// @ts-check
/**
 * Judges what clients of several API servers on one store saw: no acknowledged write is lost, no revision goes back, watches
 * miss nothing, and requests fail clearly and in time. It knows nothing about the run but its history.
 */
import { Versions } from "./versions.mjs";

/**
 * @typedef {import("./history.mjs").ObjectHistory} ObjectHistory
 * @typedef {import("./history.mjs").Request} Request
 * @typedef {import("./versions.mjs").ObjectFinding} ObjectFinding
 *
 * @typedef {object} ObjectVerdict
 * @property {number} requests
 * @property {number} acknowledged writes and deletions
 * @property {number} unknown writes and deletions of which nobody knows whether they happened
 * @property {number} events of all watches
 * @property {number} relisted how often a watcher had to list again
 * @property {number} slowestErrorMs the longest time until a server said that its store does not answer
 * @property {ObjectFinding[]} violations
 */

/** A server that runs answers within this time, even if only to say that its store does not. */
export const answerMs = 40_000;
/** How long it may take until writes go on when a majority is back. */
const recoverMs = 30_000;
/** A write that the members acknowledged before they died may reach the client later. */
const inFlightMs = 1_000;

/** @param {ObjectHistory} history @returns {ObjectVerdict} */
export function judgeObjects(history) {
  const versions = new Versions(history);
  const { requests, segments } = history;
  const changes = requests.filter(isChange);
  return {
    requests: requests.length,
    acknowledged: changes.filter(({ outcome }) => outcome === "ok").length,
    unknown: changes.filter(({ outcome }) => outcome !== "ok" && outcome !== "refused").length,
    events: segments.reduce((sum, { events }) => sum + events.length, 0),
    relisted: segments.length - new Set(segments.map(({ watcher }) => watcher)).size,
    slowestErrorMs: Math.max(
      0,
      ...requests.filter(({ outcome }) => outcome === "unavailable").map((r) => r.returnedMs - r.atMs),
    ),
    violations: [
      ...versions.findings,
      ...findLostWrites(versions, changes),
      ...findStepsBack(versions, requests),
      ...findWrongLists(versions, requests),
      ...findWatchGaps(versions, history),
      ...findBadErrors(history),
      ...findNoProgress(history),
    ],
  };
}

/** @param {Request} request */
const isChange = ({ what }) => what === "write" || what === "delete";

/**
 * Every change replaces exactly the version that its client named, and a version comes from a write that was not refused.
 * @param {Versions} versions
 * @param {Request[]} changes
 * @returns {ObjectFinding[]}
 */
function findLostWrites(versions, changes) {
  /** @type {ObjectFinding[]} */
  const findings = [];
  const byValue = new Map(
    changes.filter(({ what }) => what === "write").map((write) => [write.value, write]),
  );
  for (const object of versions.objects) {
    const all = versions.of(object);
    for (const [index, { revision, value }] of all.entries()) {
      const previous = all[index - 1];
      if (value === undefined) continue;
      const write = byValue.get(value);
      const text = `${object} at revision ${revision} is ${value}`;
      if (!write || write.object !== object) {
        findings.push({ kind: "wrong-read", text: `${text}, which nobody wrote` });
        continue;
      }
      if (write.outcome === "refused")
        findings.push({ kind: "wrong-read", text: `${text}, whose write was refused` });
      const replaced = previous?.value === undefined ? undefined : previous.revision;
      if (replaced !== write.over)
        findings.push({
          kind: "lost-write",
          text: `${text}. It was to replace revision ${write.over ?? "none"}, and replaced ${replaced ?? "none"}`,
        });
    }
  }
  for (const { what, outcome, object = "", over = 0, revision, value } of changes) {
    if (outcome !== "ok") continue;
    const next = versions.after(object, over);
    if (what === "delete" && next?.value !== undefined)
      findings.push({
        kind: "lost-write",
        text: `the deletion of ${object} at revision ${over} was acknowledged, and ${next.value} replaced it`,
      });
    if (what === "write" && revision === undefined)
      findings.push({ kind: "unclear-error", text: `the answer to the write of ${value} has no revision` });
  }
  return findings;
}

/**
 * What a request shows is not older than what any client knew before it was sent, whatever the servers.
 * @param {Versions} versions
 * @param {Request[]} requests
 * @returns {ObjectFinding[]}
 */
function findStepsBack(versions, requests) {
  /** @type {ObjectFinding[]} */
  const findings = [];
  const answered = requests
    .filter(({ outcome }) => outcome === "ok")
    .toSorted((a, b) => a.returnedMs - b.returnedMs);
  /** @type {Map<string, number>} */
  const known = new Map();
  let knownAnywhere = 0;
  let returned = 0;
  for (const request of requests.toSorted((a, b) => a.atMs - b.atMs)) {
    for (; returned < answered.length; returned += 1) {
      const earlier = /** @type {Request} */ (answered[returned]);
      if (earlier.returnedMs >= request.atMs) break;
      const revision = revisionOf(versions, earlier);
      knownAnywhere = Math.max(knownAnywhere, revision);
      if (earlier.object) known.set(earlier.object, Math.max(known.get(earlier.object) ?? 0, revision));
    }
    const { what, outcome, object = "", found, revision, server } = request;
    if (outcome !== "ok") continue;
    const floor = what === "read" ? (known.get(object) ?? 0) : knownAnywhere;
    const isAbsent = what === "read" && found === undefined;
    const isBack = isAbsent
      ? !isGoneAfter(versions, object, floor)
      : what === "write"
        ? (revision ?? 0) <= floor
        : what !== "delete" && (revision ?? 0) < floor;
    if (isBack)
      findings.push({
        kind: "revision-back",
        text: `${server} answered a ${what} of ${object || "all"} with ${isAbsent ? "nothing" : `revision ${revision}`}; revision ${floor} was known before`,
      });
  }
  return findings;
}

/** The revision that an answer makes known. @param {Versions} versions @param {Request} request */
function revisionOf(versions, { what, object = "", over = 0, revision = 0 }) {
  if (what !== "delete") return revision;
  const next = versions.after(object, over);
  return next && next.value === undefined ? next.revision : over;
}

/** @param {Versions} versions @param {string} object @param {number} revision */
function isGoneAfter(versions, object, revision) {
  if (versions.at(object, revision)?.value === undefined) return true;
  return versions.of(object).some((version) => version.revision > revision && version.value === undefined);
}

/**
 * A list shows each object as it was at the revision of the list.
 * @param {Versions} versions
 * @param {Request[]} requests
 * @returns {ObjectFinding[]}
 */
function findWrongLists(versions, requests) {
  return requests.flatMap(({ what, outcome, items = [], revision = 0, server }) => {
    if (what !== "list" || outcome !== "ok") return [];
    const listed = new Map(items.map((item) => [item.object, item]));
    return versions.objects.flatMap((object) => {
      const version = versions.at(object, revision);
      const due = version?.value === undefined ? undefined : version.revision;
      const shown = listed.get(object)?.revision;
      if (due === shown) return [];
      const text = `${server} listed ${object} at revision ${shown ?? "none"} in a list of revision ${revision}, where it is ${due ?? "none"}`;
      return [{ kind: /** @type {const} */ ("wrong-read"), text }];
    });
  });
}

/**
 * Between two lists, a watcher gets every version once and in order, and it reaches the end.
 * @param {Versions} versions
 * @param {ObjectHistory} history
 * @returns {ObjectFinding[]}
 */
function findWatchGaps(versions, { segments, endRevision }) {
  /** @type {ObjectFinding[]} */
  const findings = [];
  const find = (/** @type {string} */ text) => findings.push({ kind: "watch-gap", text });
  /** @type {Map<string, number>} */
  const reached = new Map();
  for (const { watcher, after, events } of segments) {
    let last = after;
    for (const { revision, object } of events) {
      if (revision <= last) find(`${watcher} got ${object} at revision ${revision} after revision ${last}`);
      last = Math.max(last, revision);
    }
    reached.set(watcher, last);
    const seen = new Set(events.map(({ object, revision }) => `${object}@${revision}`));
    for (const object of versions.objects)
      for (const { revision, value } of versions.of(object))
        if (revision > after && revision <= last && !seen.has(`${object}@${revision}`))
          find(`${watcher} missed ${value ?? "the deletion"} of ${object} at revision ${revision}`);
  }
  if (endRevision === undefined) return findings;
  for (const [watcher, last] of reached)
    if (last < endRevision) find(`${watcher} stopped at revision ${last}, before the end at ${endRevision}`);
  return findings;
}

/**
 * A server that runs answers in time, and an error names its cause.
 * @param {ObjectHistory} history
 * @returns {ObjectFinding[]}
 */
function findBadErrors({ requests, outages }) {
  /** @type {ObjectFinding[]} */
  const findings = [];
  for (const { what, server, outcome, atMs, returnedMs, text } of requests) {
    if (outcome === "unclear")
      findings.push({ kind: "unclear-error", text: `${server} answered a ${what}: ${text}` });
    const untilMs = Math.min(returnedMs, atMs + answerMs);
    const isDown = outages.some(
      (outage) => outage.server === server && outage.fromMs <= untilMs && outage.toMs >= atMs,
    );
    if (isDown || (outcome !== "none" && returnedMs - atMs <= answerMs)) continue;
    const how = outcome === "none" ? "did not answer" : `took ${(returnedMs - atMs).toFixed(0)} ms to answer`;
    findings.push({ kind: "no-answer", text: `${server} ran, and ${how} a ${what}: ${text ?? "nothing"}` });
  }
  return findings;
}

/**
 * Nothing is acknowledged without a majority, and writes go on when it is back.
 * @param {ObjectHistory} history
 * @returns {ObjectFinding[]}
 */
function findNoProgress({ requests, majorityLost }) {
  const writes = requests.filter((request) => isChange(request) && request.outcome === "ok");
  return majorityLost.flatMap(({ fromMs, toMs, backMs }) => {
    /** @type {ObjectFinding[]} */
    const findings = writes
      .filter(
        ({ atMs, returnedMs }) => atMs >= fromMs && returnedMs > fromMs + inFlightMs && returnedMs < toMs,
      )
      .map(({ server, object }) => ({
        kind: "lost-write",
        text: `${server} acknowledged a change of ${object} while most members of the store were dead`,
      }));
    if (!writes.some(({ atMs, returnedMs }) => atMs >= toMs && returnedMs <= backMs + recoverMs))
      findings.push({
        kind: "no-progress",
        text: `no write was acknowledged within ${recoverMs} ms after a majority was back at ${backMs.toFixed(0)}`,
      });
    return findings;
  });
}
