// @ts-check
/** Prints what a run or a history showed. */
import { isLeak, mostDescriptors, mostMegabytes } from "./leaks.mjs";

/**
 * @typedef {import("./history/judge.mjs").Verdict} Verdict
 * @typedef {import("./objects/judge.mjs").ObjectVerdict} ObjectVerdict
 *
 * @typedef {object} Observed what only the test itself can know
 * @property {Record<string, number>} faults
 * @property {string[]} orphans
 * @property {import("./leaks.mjs").Growth[]} growths
 * @property {boolean} hasLeader
 */

/** Two leaders cause hundreds of violations. The first ones show the cause. */
const mostPrinted = 30;

/** @param {import("./history/history.mjs").History} history @param {Verdict} verdict */
export function printVerdict({ run, restores, stalls }, verdict) {
  const { terms, operations, refused, unknown, late, violations, unjudged } = verdict;
  const gaps = verdict.gapsMs.toSorted((a, b) => a - b);
  const at = (/** @type {number} */ part) =>
    Math.round(gaps[Math.min(gaps.length - 1, Math.floor(gaps.length * part))] ?? 0);
  const bumped = restores.filter((restore) => restore.bumped).length;
  const longestStall = Math.max(0, ...stalls.map(({ fromMs, toMs }) => toMs - fromMs));
  console.log(
    `work          ${terms.length} terms, ${operations} operations: ${refused} refused, ${unknown} without an answer, ` +
      `${late} late at the open register`,
  );
  console.log(
    `no leader     p50 ${at(0.5)} ms, p95 ${at(0.95)} ms, longest ${at(1)} ms (lease ${run?.leaseMs ?? "?"} ms)`,
  );
  console.log(
    `restores      ${restores.length - bumped} with revisions that fall, ${bumped} with --bump-revision`,
  );
  console.log(`machine       stalled ${stalls.length} times, for up to ${Math.round(longestStall)} ms`);
  for (const { kind, text } of unjudged.slice(0, mostPrinted))
    console.log(`not judged    ${kind}: the machine stalled: ${text}`);
  for (const { kind, text } of violations.slice(0, mostPrinted))
    console.log(`VIOLATION     ${kind}: ${text}`);
  const more = violations.length - mostPrinted;
  if (more > 0) console.log(`VIOLATION     and ${more} more`);
}

/** @param {ObjectVerdict} objects */
export function printObjects({
  requests,
  acknowledged,
  unknown,
  events,
  relisted,
  slowestErrorMs,
  violations,
}) {
  console.log(
    `objects       ${requests} requests, ${acknowledged} changes acknowledged, ${unknown} with an unknown outcome; ` +
      `${events} events, ${relisted} new lists; slowest error ${Math.round(slowestErrorMs)} ms`,
  );
  for (const { kind, text } of violations.slice(0, mostPrinted))
    console.log(`VIOLATION     ${kind}: ${text}`);
  const more = violations.length - mostPrinted;
  if (more > 0) console.log(`VIOLATION     and ${more} more`);
}

/** @param {Observed} observed */
export function printObserved({ faults, orphans, growths, hasLeader }) {
  const counts = Object.entries(faults).map(([name, times]) => `${name} ${times}`);
  console.log(`faults        ${counts.join(", ")}`);
  const most = (/** @type {"descriptors" | "megabytes"} */ what) =>
    Math.round(Math.max(0, ...growths.map(({ first, last }) => last[what] - first[what])));
  console.log(
    `processes     ${growths.length} lived long enough to judge leaks; the most grown: ` +
      `+${most("descriptors")} descriptors (limit ${mostDescriptors}), +${most("megabytes")} MB (limit ${mostMegabytes})`,
  );
  for (const orphan of orphans) console.log(`VIOLATION     orphan ${orphan}`);
  if (!hasLeader) console.log("VIOLATION     no leader after the faults had ended");
}

/**
 * One line with everything that counts.
 * @param {string} target
 * @param {Verdict} verdict
 * @param {Observed} [observed]
 * @param {ObjectVerdict} [objects]
 */
export function summaryOf(target, { terms, violations, unjudged, gapsMs }, observed, objects) {
  const count = (/** @type {import("./history/term-checks.mjs").Kind[]} */ ...kinds) =>
    violations.filter(({ kind }) => kinds.includes(kind)).length;
  const parts = [
    `${terms.length} terms`,
    `${count("overlap")} overlaps`,
    `${count("token-order")} tokens out of order`,
    `${count("stale-write")} stale writes`,
    `${count("lost-write")} lost writes`,
    `${count("phantom-read", "register")} wrong reads`,
    `${count("after-end")} writes after the end`,
    ...(observed
      ? [`${observed.orphans.length} orphans`, `${observed.growths.filter(isLeak).length} leaks`]
      : []),
    `longest gap ${(Math.max(0, ...gapsMs) / 1_000).toFixed(1)} s`,
    ...(unjudged.length > 0 ? [`${unjudged.length} not judged`] : []),
    ...(objects && objects.requests > 0 ? summaryOfObjects(objects) : []),
  ];
  return `${target}: ${parts.join(", ")}`;
}

/** @param {ObjectVerdict} objects */
function summaryOfObjects({ acknowledged, violations }) {
  const count = (/** @type {string[]} */ ...kinds) =>
    violations.filter(({ kind }) => kinds.includes(kind)).length;
  return [
    `${acknowledged} changes of objects`,
    `${count("lost-write")} lost`,
    `${count("revision-back", "wrong-read")} wrong reads`,
    `${count("watch-gap")} missed by watches`,
    `${count("unclear-error", "no-answer", "no-progress")} bad errors`,
  ];
}

/** @param {Verdict} verdict @param {Observed} [observed] @param {ObjectVerdict} [objects] */
export function isGood({ violations }, observed, objects) {
  if (violations.length > 0 || (objects && objects.violations.length > 0)) return false;
  return !observed || (observed.orphans.length === 0 && observed.hasLeader && !observed.growths.some(isLeak));
}
