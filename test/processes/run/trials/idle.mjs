// @ts-check
/** Memory and CPU of a leading supervisor and of its watchdog. */
import { readFile } from "node:fs/promises";
import { childrenOf, watchdogsOf } from "../survivors.mjs";
import { print } from "./group.mjs";
import { trees } from "./tree.mjs";
import { end, wait } from "./world.mjs";

const mostMegabytes = 60;
const mostCpuPercent = 0.2;
/** Node keeps compiling and collecting garbage for a while after the start. */
const settleMs = 30_000;

/** With the default timings and logs. @param {import("./world.mjs").World} world @param {number} seconds */
export async function idle(world, seconds) {
  const leader = await world.startLeader({ flags: [], child: trees.polite });
  try {
    const { pid } = leader.replica;
    const [watchdog] = watchdogsOf(pid);
    const processes = { supervisor: pid, ...(watchdog === undefined ? {} : { watchdog }) };
    await wait(settleMs);
    const startedMs = performance.now();
    const before = new Map();
    for (const pid of Object.values(processes)) before.set(pid, await cpuMs(pid));
    await wait(seconds * 1_000);
    let isFine = watchdog !== undefined;
    for (const [name, of] of Object.entries(processes)) {
      const percent = (((await cpuMs(of)) - before.get(of)) / (performance.now() - startedMs)) * 100;
      const mb = await megabytes(of);
      const fits = mb <= mostMegabytes && percent <= mostCpuPercent;
      isFine &&= fits;
      const text = `${mb.toFixed(0)} MB (≤ ${mostMegabytes}), CPU ${percent.toFixed(2)} % (≤ ${mostCpuPercent})`;
      print("idle", `${name}: ${text}${fits ? "" : "  MISSED"}`);
    }
    if (watchdog === undefined) print("idle", `MISSED: no watchdog beside ${childrenOf(pid).join(", ")}`);
    return isFine;
  } finally {
    await end(leader);
  }
}

/** @param {number} pid CPU time in milliseconds */
async function cpuMs(pid) {
  const stat = await readFile(`/proc/${pid}/stat`, "latin1");
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[11]) + Number(fields[12])) * 10;
}

/** @param {number} pid */
async function megabytes(pid) {
  const status = await readFile(`/proc/${pid}/status`, "latin1");
  return Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1_024;
}
