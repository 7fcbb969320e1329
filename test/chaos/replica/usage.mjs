// @ts-check
/** What a process uses. */
import { readdirSync, readFileSync } from "node:fs";

/** File descriptors and resident memory, if /proc has them. @param {number} pid */
export function usageOf(pid) {
  try {
    const resident = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1];
    // A process that exited but was not reaped yet has none.
    if (resident === undefined) return undefined;
    return { descriptors: readdirSync(`/proc/${pid}/fd`).length, megabytes: Number(resident) / 1_024 };
  } catch {
    // The process has exited, or this is not Linux.
    return undefined;
  }
}
