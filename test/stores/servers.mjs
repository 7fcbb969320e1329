// @ts-check
/** Starts servers of one test in one folder. All of them are killed when the test is over, or when its process dies. */
import { chown, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startCleanupProcess } from "../kube/cleanup-process.mjs";
import { startProcess } from "../kube/process.mjs";
import { untilReady } from "../kube/ready.mjs";

const readyTimeoutMs = 60_000;

/**
 * @typedef {object} Servers
 * @property {string} folder
 * @property {(options: { name: string, command: string, args: string[], probe: () => Promise<boolean> }) => Promise<import("../kube/process.mjs").ServerProcess>} run
 *   starts a server and waits until it is ready
 * @property {() => Promise<void>} stop kills all servers and removes the folder
 */

/**
 * @param {{ uid: number, gid: number } | undefined} [owner] of the folder
 * @returns {Promise<Servers>}
 */
export async function newServers(owner) {
  const folder = await mkdtemp(join(tmpdir(), "tenure-stores-"));
  if (owner) await chown(folder, owner.uid, owner.gid);
  const cleanup = await startCleanupProcess(folder);
  /** @type {Set<import("../kube/process.mjs").ServerProcess>} */
  const alive = new Set();
  return {
    folder,
    async run({ name, command, args, probe }) {
      const logFile = join(folder, `${name}.log`);
      const process = await startProcess({ name, command, args, logFile, home: folder, cleanup });
      alive.add(process);
      void process.exited.then(() => alive.delete(process));
      await untilReady({ process, logFile, timeoutMs: readyTimeoutMs, probe });
      return process;
    },
    async stop() {
      await Promise.all([...alive].map((process) => process.end("SIGKILL")));
      await rm(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 50 });
      await cleanup.end();
    },
  };
}
