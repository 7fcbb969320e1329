// @ts-check
/** `tenure ui` for the election of the demo, and a recording of it. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

const tenure = fileURLToPath(new URL("../../packages/cli/bin/tenure.cjs", import.meta.url));

/**
 * @param {string} kubeconfig
 * @param {string} election
 * @param {readonly { statusUrl: string }[]} replicas
 * @returns {Promise<{ url: string, pid: number, close: () => Promise<void> } | undefined>} undefined if it did not start
 */
export async function startPage(kubeconfig, election, replicas) {
  const child = spawn(
    process.execPath,
    [
      ...[tenure, "ui", election, "-n", "default", "--kubeconfig", kubeconfig],
      ...["--replica", ...replicas.map(({ statusUrl }) => statusUrl)],
    ],
    { detached: true, stdio: ["ignore", "pipe", "ignore"] },
  );
  const exited = once(child, "exit");
  const lines = createInterface({ input: child.stdout });
  const [line] = await Promise.race([once(lines, "line"), exited]);
  const [, url] = /^Open (\S+)/.exec(String(line)) ?? [];
  if (url === undefined || child.pid === undefined) return undefined;
  return {
    url,
    pid: child.pid,
    async close() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      child.kill("SIGTERM");
      await exited;
    },
  };
}

/**
 * Records the election with `tenure watch --record`.
 * @param {string} kubeconfig
 * @param {string} election
 * @param {readonly { statusUrl: string }[]} replicas
 * @param {string} file
 * @returns {{ pid: number, close: () => Promise<void> }}
 */
export function startRecording(kubeconfig, election, replicas, file) {
  const child = spawn(
    process.execPath,
    [
      ...[tenure, "watch", election, "-n", "default", "--kubeconfig", kubeconfig, "--record", file],
      ...["--replica", ...replicas.map(({ statusUrl }) => statusUrl)],
    ],
    { detached: true, stdio: ["ignore", "ignore", "inherit"] },
  );
  const exited = once(child, "exit");
  return {
    pid: child.pid ?? 0,
    async close() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      child.kill("SIGTERM");
      await exited;
    },
  };
}
