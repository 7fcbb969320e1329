// @ts-check
/** A leader that is cut off, frozen or killed, and one whose watchdog hangs. Its child ignores SIGTERM. */
import { describe, watchdogsOf } from "../survivors.mjs";
import { end, hardDeadlineMs, someTime, wait } from "./world.mjs";

/** @typedef {import("./world.mjs").World} World */
/** @typedef {import("./group.mjs").Result} Result */

/** How long the watchdog may take to kill the child of a supervisor that was killed. */
export const killedWithinMs = 1_000;

/** A shorter lease leaves no time to start a watchdog on a busy machine: tenure then gives up leadership, which is right too. */
const hungLeaseMs = 5_000;
const hungTimings = [
  ...["--lease-duration", `${hungLeaseMs}ms`],
  ...["--renew-deadline", "4s", "--retry-period", "500ms"],
];

/** @param {World} world @param {number} index @returns {Promise<Result>} */
export async function cut(world, index) {
  const { proxy, kubeconfig } = await world.newProxy();
  const leader = await world.startLeader({ kubeconfig });
  try {
    await someTime(index);
    proxy.setMode(index % 2 === 0 ? "refusing" : "black-hole");
    // By then, requests that were in flight at the cut have arrived or never will.
    await wait(300);
    const deadline = (await world.renewedAt(leader.name)) + hardDeadlineMs;
    const ms = (await leader.tree.timeOf("end")) - deadline;
    return { ms, limitMs: 0, left: leader.replica.descendants().map(describe) };
  } finally {
    await end(leader);
    proxy.close();
  }
}

/** @param {World} world @param {number} index @returns {Promise<Result>} */
export async function frozen(world, index) {
  const leader = await world.startLeader();
  try {
    await someTime(index);
    leader.replica.kill("SIGSTOP");
    await wait(100);
    const deadline = (await world.renewedAt(leader.name)) + hardDeadlineMs;
    const ms = (await leader.tree.timeOf("end")) - deadline;
    const left = leader.replica.descendants().map(describe);
    await wait(500);
    leader.replica.kill("SIGCONT");
    // The leader must notice by itself that it lost.
    await leader.replica.logged("term-ended");
    return { ms, limitMs: 0, left };
  } finally {
    await end(leader);
  }
}

/** @param {World} world @param {number} index @returns {Promise<Result>} */
export async function killed(world, index) {
  const leader = await world.startLeader();
  try {
    await someTime(index);
    return await killAndJudge(leader);
  } finally {
    await end(leader);
  }
}

/**
 * The watchdog hangs. Within one lease, the supervisor replaces it or stops the child. Then the supervisor is killed.
 * @param {World} world
 * @param {number} index
 * @returns {Promise<Result>}
 */
export async function hung(world, index) {
  const leader = await world.startLeader({ flags: hungTimings });
  try {
    const { replica, tree } = leader;
    const [first] = watchdogsOf(replica.pid);
    if (first === undefined) throw new Error("no watchdog beside the supervisor");
    await someTime(index);
    const hungAt = Date.now();
    process.kill(first, "SIGSTOP");
    const noticed = await replica.logged("error", { code: "Unguarded" });
    if (!/did not answer/.test(String(noticed.msg))) throw new Error(`unexpected: ${noticed.msg}`);
    while (!tree.has("end") && watchdogsOf(replica.pid).every((pid) => pid === first)) await wait(10);
    const ms = Date.now() - hungAt;
    if (tree.has("end")) return { ms, limitMs: hungLeaseMs, left: replica.descendants().map(describe) };
    const { ms: killedMs, left } = await killAndJudge(leader);
    if (killedMs > killedWithinMs) throw new Error(`the tree exited ${killedMs} ms after the supervisor`);
    return { ms, limitMs: hungLeaseMs, left };
  } finally {
    await end(leader);
  }
}

/** @param {import("./world.mjs").Started} leader @returns {Promise<Result & { left: string[] }>} */
async function killAndJudge({ replica, tree }) {
  const sentAt = Date.now();
  replica.kill("SIGKILL");
  const ms = (await tree.timeOf("end")) - sentAt;
  return { ms, limitMs: killedWithinMs, left: replica.descendants().map(describe) };
}
