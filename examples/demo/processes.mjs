// @ts-check
/** Finds and signals processes and their descendants. */
import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, readFileSync } from "node:fs";

/** @returns {{ pid: number, parent: number, isZombie: boolean }[]} */
function processes() {
  if (!existsSync("/proc/self/stat")) {
    const lines = execFileSync("ps", ["-axo", "pid=,ppid=,stat="], { encoding: "utf8" }).trim().split("\n");
    return lines.map((line) => {
      const [pid, parent, state = ""] = line.trim().split(/\s+/);
      return { pid: Number(pid), parent: Number(parent), isZombie: state.startsWith("Z") };
    });
  }
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => {
      try {
        // pid (name) state parent …; the name may contain any character.
        const [state, parent] = readFileSync(`/proc/${name}/stat`, "utf8")
          .replace(/^.*\) /s, "")
          .split(" ");
        return [{ pid: Number(name), parent: Number(parent), isZombie: state === "Z" }];
      } catch {
        // The process ended during the scan.
        return [];
      }
    });
}

/** A process and all its descendants. @param {number} pid */
export function processTree(pid) {
  const all = processes();
  const found = [pid];
  for (const parent of found) {
    for (const { pid: child, parent: of } of all) if (of === parent) found.push(child);
  }
  return found;
}

/** The processes that still run. A zombie has exited. @param {Iterable<number>} pids */
export function running(pids) {
  const wanted = new Set(pids);
  return processes()
    .filter(({ pid, isZombie }) => wanted.has(pid) && !isZombie)
    .map(({ pid }) => pid);
}

/** @param {Iterable<number>} pids @param {NodeJS.Signals} signal */
export function signalAll(pids, signal) {
  for (const pid of pids) {
    try {
      process.kill(pid, signal);
    } catch {
      // It has already exited.
    }
  }
}
