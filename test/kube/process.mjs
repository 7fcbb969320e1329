// @ts-check
/** Runs one server process in its own process group, with its output in a log file. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, openSync } from "node:fs";
import { readFile } from "node:fs/promises";

/**
 * @typedef {object} ServerProcess
 * @property {string} name
 * @property {number} pid
 * @property {Promise<string>} exited how it exited; never rejects
 * @property {() => boolean} hasExited
 * @property {(signal: NodeJS.Signals) => Promise<void>} end sends the signal and waits for the exit
 */

/** A server that does not exit within this time is killed. */
const graceMs = 10_000;

/**
 * @param {object} options
 * @param {string} options.name
 * @param {string} options.command
 * @param {string[]} options.args
 * @param {string} options.logFile appended to, so that a restart keeps the earlier output
 * @param {string} options.home
 * @param {{ watch(pid: number): void, forget(pid: number): void }} options.cleanup
 * @returns {Promise<ServerProcess>}
 */
export async function startProcess({ name, command, args, logFile, home, cleanup }) {
  const log = openSync(logFile, "a");
  const child = spawn(command, args, {
    // In its own process group, so that Ctrl-C reaches only the owner, which then stops the servers in order.
    detached: true,
    stdio: ["ignore", log, log],
    // The developer's ETCD_*, proxy and Go settings must not affect the test.
    env: { PATH: process.env.PATH, HOME: home },
  });
  closeSync(log);
  try {
    await once(child, "spawn");
  } catch (cause) {
    throw new Error(`Cannot start ${name}: ${command} does not run on this machine: ${cause}`, { cause });
  }
  const pid = /** @type {number} */ (child.pid);
  cleanup.watch(pid);

  let ended = false;
  /** @type {Promise<string>} */
  const exited = new Promise((resolve) => {
    child.once("exit", (code, signal) => {
      ended = true;
      cleanup.forget(pid);
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
 * Whether a process runs. A zombie does not: it has exited and was not reaped yet. Zombies are common in a container whose
 * PID 1 does not reap.
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
  // "pid (name) state …", where the name may contain spaces and parentheses.
  return status.slice(status.lastIndexOf(")") + 2, status.lastIndexOf(")") + 3) !== "Z";
}
