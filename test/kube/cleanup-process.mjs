// @ts-check
/**
 * Kills the servers of a cluster when its owner has exited for whatever reason: return, exception, SIGINT, SIGKILL.
 *
 * The owner runs this file as a process and holds the other end of its stdin. The kernel closes that end when the owner
 * exits, even on SIGKILL, which no signal handler can catch. The lines "+pid" and "-pid" on stdin add and remove a server;
 * "keep" keeps the folder (the first argument) for a person to read.
 *
 * Not promised: a server that the owner spawned just before its own SIGKILL, before it could send the pid.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { rmSync } from "node:fs";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

/**
 * @typedef {object} CleanupProcess
 * @property {number} pid
 * @property {(pid: number) => void} watch
 * @property {(pid: number) => void} forget
 * @property {() => void} keepFolder
 * @property {() => Promise<void>} end lets the process finish, and waits for its exit
 */

/**
 * @param {string} folder removed when the owner has exited
 * @returns {Promise<CleanupProcess>}
 */
export async function startCleanupProcess(folder) {
  // Detached, because Ctrl-C would otherwise end this process together with the owner.
  const child = spawn(process.execPath, [fileURLToPath(import.meta.url), folder], {
    detached: true,
    stdio: ["pipe", "ignore", "inherit"],
  });
  await once(child, "spawn");
  const exited = once(child, "exit");
  // If the process has died, the owner must not fail with EPIPE.
  child.stdin.on("error", () => {});
  child.unref();
  /** @param {string} line */
  const send = (line) => void child.stdin.write(`${line}\n`);
  return {
    pid: /** @type {number} */ (child.pid),
    watch: (pid) => send(`+${pid}`),
    forget: (pid) => send(`-${pid}`),
    keepFolder: () => send("keep"),
    async end() {
      child.ref();
      child.stdin.end();
      await exited;
    },
  };
}

async function main() {
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
      // It has already exited.
    }
  }
  // Retries, because a server that is exiting may still write a file.
  if (!keep) rmSync(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 });
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await main();
