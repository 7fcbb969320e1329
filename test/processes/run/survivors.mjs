// @ts-check
/** Finds processes that still run: descendants by an environment variable that they inherit, and watchdogs by their name. */
import { readdirSync, readFileSync } from "node:fs";

export const markVariable = "TENURE_TEST_MARK";

/** @param {string} path */
function attempt(path) {
  try {
    return readFileSync(path, "latin1");
  } catch {
    return "";
  }
}

/** @returns {number[]} the pids of all processes */
function pids() {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(Number);
}

/** A zombie does not count as alive. @param {number} pid */
export function isAlive(pid) {
  const stat = attempt(`/proc/${pid}/stat`);
  return stat !== "" && !/^\S+ \(.*\) [ZX]/s.test(stat);
}

/** @param {string} mark @returns {number[]} */
export function marked(mark) {
  return pids().filter(
    (pid) => attempt(`/proc/${pid}/environ`).includes(`${markVariable}=${mark}`) && isAlive(pid),
  );
}

/** @param {number} parent @returns {number[]} */
export function childrenOf(parent) {
  return pids().filter((pid) => {
    const stat = attempt(`/proc/${pid}/stat`);
    return Number(stat.slice(stat.lastIndexOf(")") + 2).split(" ")[1]) === parent && isAlive(pid);
  });
}

/** @param {number} supervisor @returns {number[]} */
export function watchdogsOf(supervisor) {
  return pids().filter((pid) => {
    const words = attempt(`/proc/${pid}/cmdline`).split("\0").filter(Boolean);
    const isWatchdog = words.some((word) => word.includes("watchdog"));
    return isWatchdog && new RegExp(`\\b${supervisor}\\b`).test(words.join(" ")) && isAlive(pid);
  });
}

/** The process as messages name it. @param {number} pid */
export function describe(pid) {
  return `${pid}: ${attempt(`/proc/${pid}/cmdline`).replaceAll("\0", " ").slice(0, 120)}`;
}
