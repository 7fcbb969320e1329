// @ts-check
/**
 * Judges the history of a chaos run after the fact. It knows nothing about the run but its history.
 *
 * Not judged: a worker that does not check the clock and was killed late because the machine did not run the killer. Such
 * findings are listed apart.
 */
import { checkRegister } from "./register-checks.mjs";
import { findOverlaps, findTokenDisorder, findWorkAfterEnd } from "./term-checks.mjs";
import { termsOf, workersOf } from "./workers.mjs";

/**
 * @typedef {import("./term-checks.mjs").Finding} Finding
 *
 * @typedef {object} Verdict
 * @property {import("./workers.mjs").Term[]} terms in the order of their first operation
 * @property {number} operations
 * @property {number} refused
 * @property {number} unknown operations without an answer
 * @property {number} late writes that reached the open register after a write of a later term, although sent before
 * @property {number[]} gapsMs the times without work between successive terms
 * @property {Finding[]} violations
 * @property {Finding[]} unjudged findings that a busy machine explains
 */

/** @param {import("./history.mjs").History} history @returns {Verdict} */
export function judge(history) {
  const workers = workersOf(history.operations);
  const terms = termsOf(workers.values(), history.restores);
  const registers = [checkRegister("fenced", history, workers), checkRegister("open", history, workers)];
  const findings = [
    ...findOverlaps(history, [...workers.values()]),
    ...findTokenDisorder(terms),
    ...findWorkAfterEnd(history, workers),
    ...registers.flatMap((register) => register.findings),
  ].sort((a, b) => a.atMs - b.atMs);
  const count = (/** @type {string} */ outcome) =>
    history.operations.filter((operation) => operation.outcome === outcome).length;
  return {
    terms,
    operations: history.operations.length,
    refused: count("refused"),
    unknown: count("unknown"),
    late: registers.reduce((sum, { late }) => sum + late, 0),
    gapsMs: gapsOf(terms),
    violations: findings.filter(({ stalled }) => !stalled),
    unjudged: findings.filter(({ stalled }) => stalled),
  };
}

/** @param {import("./workers.mjs").Term[]} terms */
function gapsOf(terms) {
  let lastMs = terms[0]?.lastMs ?? 0;
  return terms.slice(1).map((term) => {
    const gapMs = Math.max(0, term.firstMs - lastMs);
    lastMs = Math.max(lastMs, term.lastMs);
    return gapMs;
  });
}
