// @ts-check
/**
 * Ends the servers of a cluster whose owner is gone, however it went: return, exception, SIGINT, SIGKILL.
 *
 * The owner starts this file as a process and holds the other end of its stdin. The kernel closes that end when
 * the owner dies, which no signal handler in the owner could promise. Lines on stdin: "+pid" and "-pid" say
 * which servers run, "keep" says to leave the folder (named by the first argument) for a human to read.
 *
 * Not promised: a server that the owner spawned in the very instant of its own SIGKILL, before it could tell.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { rmSync } from "node:fs";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

/**
 * @typedef {object} Guardian
 * @property {number} pid
 * @property {(pid: number) => void} watch
 * @property {(pid: number) => void} forget
 * @property {() => void} keepFolder
 * @property {() => Promise<void>} end lets the guardian finish, and waits until it has
 */

/**
 * @param {string} folder removed when the owner is gone
 * @returns {Promise<Guardian>}
 */
export async function startGuardian(folder) {
  // Detached, or the Ctrl-C that ends the owner would end the guardian too.
  const child = spawn(process.execPath, [fileURLToPath(import.meta.url), folder], {
    detached: true,
    stdio: ["pipe", "ignore", "inherit"],
  });
  await once(child, "spawn");
  const exited = once(child, "exit");
  // A guardian that died is no reason for the owner to die of EPIPE.
  child.stdin.on("error", () => {});
  child.unref();
  /** @param {string} line */
  const say = (line) => void child.stdin.write(`${line}\n`);
  return {
    pid: /** @type {number} */ (child.pid),
    watch: (pid) => say(`+${pid}`),
    forget: (pid) => say(`-${pid}`),
    keepFolder: () => say("keep"),
    async end() {
      child.ref();
      child.stdin.end();
      await exited;
    },
  };
}

async function guard() {
  const folder = /** @type {string} */ (process.argv[2]);
  /** @type {Set<number>} */
  const pids = new Set();
  let keep = false;
  for await (const line of createInterface({ input: process.stdin })) {
    if (line === "keep") keep = true;
    else if (line.startsWith("+")) pids.add(Number(line.slice(1)));
    else pids.delete(Number(line.slice(1)));
  }
  for (const pid of pids) {
    try {
      process.kill(pid, "SIGKILL");
    } catch {
      // It was faster.
    }
  }
  // Retries, as a server that is just dying may still add a file.
  if (!keep) rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 });
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await guard();
