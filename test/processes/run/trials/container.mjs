// @ts-check
/**
 * Supervisor and watchdog are killed at the same moment, in a PID namespace as a container has one. When its PID 1 ends, the
 * kernel kills everything in the namespace.
 */
import { execFile } from "node:child_process";
import { closeSync, openSync, readdirSync, readlinkSync } from "node:fs";
import { promisify } from "node:util";
import { findExecutable, folders } from "../../../kube/assets.mjs";
import { childrenOf, describe, isAlive } from "../survivors.mjs";
import { killedWithinMs } from "./failures.mjs";
import { end, someTime } from "./world.mjs";

const newNamespace = ["unshare", "--user", "--map-root-user", "--pid", "--fork", "--mount-proc"];

/** @typedef {"tenure" | "tini"} Init the program that is PID 1 */

/** Why this kind of container cannot be started here. @param {Init} init @returns {Promise<string | undefined>} */
export async function reasonAgainst(init) {
  if (init === "tini" && !(await findExecutable("tini", folders(process.env))))
    return "tini is not installed";
  const [command = "", ...args] = newNamespace;
  return promisify(execFile)(command, [...args, "true"]).then(
    () => undefined,
    (error) => `this system denies a PID namespace: ${error.message.trim().replaceAll("\n", ": ")}`,
  );
}

/**
 * @param {import("./world.mjs").World} world
 * @param {number} index
 * @param {Init} init
 * @returns {Promise<import("./group.mjs").Result>}
 */
export async function container(world, index, init) {
  const before = [...newNamespace, ...(init === "tini" ? ["tini", "--"] : [])];
  const leader = await world.startLeader({ before });
  const [first = 0] = childrenOf(leader.replica.pid);
  /** @type {number | undefined} */
  let held;
  try {
    // While it is open, the kernel gives its number to no other namespace, such as that of a run beside this one.
    held = openSync(`/proc/${first}/ns/pid`, "r");
    const namespace = namespaceOf(first);
    if (namespace === namespaceOf(process.pid)) throw new Error("the replica has no namespace of its own");
    // tini is also the parent of processes whose own parent has ended.
    const supervisor = (init === "tini" ? childrenOf(first) : [first]).find(watchdogOf);
    const watchdog = supervisor && watchdogOf(supervisor);
    if (supervisor === undefined || watchdog === undefined)
      throw new Error(`nothing below ${describe(first)} has a watchdog`);
    await someTime(index);
    const sentAt = Date.now();
    process.kill(watchdog, "SIGKILL");
    process.kill(supervisor, "SIGKILL");
    const ms = (await leader.tree.timeOf("end")) - sentAt;
    await leader.replica.exited;
    return { ms, limitMs: killedWithinMs, left: membersOf(namespace).map(describe) };
  } finally {
    if (held !== undefined) closeSync(held);
    if (first > 0 && isAlive(first)) process.kill(first, "SIGKILL");
    await end(leader);
  }
}

/** @param {number} supervisor */
function watchdogOf(supervisor) {
  return childrenOf(supervisor).find((pid) => describe(pid).includes("watchdog"));
}

/** @param {number} pid */
function namespaceOf(pid) {
  try {
    return readlinkSync(`/proc/${pid}/ns/pid`);
  } catch {
    return "";
  }
}

/** All processes in it, whatever their environment and parents are. @param {string} namespace */
function membersOf(namespace) {
  const pids = readdirSync("/proc").filter((name) => /^\d+$/.test(name));
  return pids.map(Number).filter((pid) => namespaceOf(pid) === namespace && isAlive(pid));
}
