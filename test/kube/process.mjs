// @ts-check
/** One server process: started apart from our terminal, written to a log, known to the guardian, waited for. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, openSync } from "node:fs";
import { readFile } from "node:fs/promises";

/**
 * @typedef {object} ServerProcess
 * @property {string} name
 * @property {number} pid
 * @property {Promise<string>} exited how it ended, in words; never rejects
 * @property {() => boolean} hasExited
 * @property {(signal: NodeJS.Signals) => Promise<void>} end sends the signal and waits for the exit
 */

/** A server that ignores SIGTERM for this long is killed. */
const graceMs = 10_000;

/**
 * @param {object} options
 * @param {string} options.name
 * @param {string} options.command
 * @param {string[]} options.args
 * @param {string} options.logFile appended to, so that a restart keeps what came before
 * @param {string} options.home
 * @param {{ watch(pid: number): void, forget(pid: number): void }} options.guardian
 * @returns {Promise<ServerProcess>}
 */
export async function startProcess({ name, command, args, logFile, home, guardian }) {
  const log = openSync(logFile, "a");
  const child = spawn(command, args, {
    // A group of its own: Ctrl-C must reach us first, so that we end the servers in order.
    detached: true,
    stdio: ["ignore", log, log],
    // Nothing of the developer's ETCD_*, proxy or Go settings may change what is tested.
    env: { PATH: process.env.PATH, HOME: home },
  });
  closeSync(log);
  try {
    await once(child, "spawn");
  } catch (cause) {
    throw new Error(`Cannot start ${name} as ${command} does not run on this machine: ${cause}`, { cause });
  }
  const pid = /** @type {number} */ (child.pid);
  guardian.watch(pid);

  let ended = false;
  /** @type {Promise<string>} */
  const exited = new Promise((resolve) => {
    child.once("exit", (code, signal) => {
      ended = true;
      guardian.forget(pid);
      resolve(signal ? `signal ${signal}` : `exit code ${code}`);
    });
  });
  return {
    name,
    pid,
    exited,
    hasExited: () => ended,
    async end(signal) {
      child.kill(signal);
      const force = setTimeout(() => child.kill("SIGKILL"), graceMs);
      await exited;
      clearTimeout(force);
    },
  };
}

/**
 * Whether a process runs. One that is dead and was only not waited for (a zombie, common where process 1 of a
 * container does not reap) does not.
 *
 * @param {number} pid
 */
export async function isRunning(pid) {
  try {
    process.kill(pid, 0);
  } catch (error) {
    return /** @type {NodeJS.ErrnoException} */ (error).code === "EPERM";
  }
  const status = await readFile(`/proc/${pid}/stat`, "utf8").catch(() => "");
  // "pid (name) state …", where the name may hold spaces and brackets.
  return status.slice(status.lastIndexOf(")") + 2, status.lastIndexOf(")") + 3) !== "Z";
}
