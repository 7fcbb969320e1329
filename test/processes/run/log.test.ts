/** A leader whose log nobody reads. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { KubeClient, loadConfig } from "@tenure/kube";
import { expect, it } from "vitest";

import { newWorld } from "./world.ts";

const command = fileURLToPath(new URL("../../../packages/cli/bin/tenure.mjs", import.meta.url));
const path = "/apis/coordination.k8s.io/v1/namespaces/default/leases/unread";

interface Lease {
  readonly spec: { readonly renewTime: string; readonly leaseTransitions: number };
}

const world = newWorld();

it("keeps leading, and stops on SIGTERM", { timeout: 40_000 }, async () => {
  const client = new KubeClient(loadConfig({ kubeconfig: world.kubeconfig }));
  const flags = ["--kubeconfig", world.kubeconfig, "--lease-lock-name", "unread", "--id", "a"];
  // A pipe of the shell, as containers have. It is full after a second or two, and then a write to it blocks.
  const script = '"$@" --log-leader-every 1ms -- sleep 1000 2>&1 >/dev/null | sleep 1000 & wait $!';
  const pidOf = 'echo $$ > "$PID_FILE"; exec "$0" "$@"';
  const inner = ["sh", "-c", pidOf, process.execPath, command, "run", ...flags];
  const pidFile = join(world.folder, "pid");
  const shell = spawn("sh", ["-c", script, "sh", ...inner], {
    stdio: "ignore",
    detached: true,
    env: { PATH: process.env.PATH, PID_FILE: pidFile },
  });
  try {
    const lease = async () => (await client.request<Lease>({ method: "GET", path })).spec;
    await expect.poll(() => lease().catch(() => undefined)).toBeDefined();
    const before = await lease();
    const soonMs = Date.parse(before.renewTime) + 8_000;
    await expect
      .poll(async () => Date.parse((await lease()).renewTime), { timeout: 15_000, interval: 200 })
      .toBeGreaterThan(soonMs);
    expect((await lease()).leaseTransitions).toBe(before.leaseTransitions);
    const { readFile } = await import("node:fs/promises");
    const pid = Number(await readFile(pidFile, "utf8"));
    process.kill(pid, "SIGTERM");
    await expect.poll(() => isGone(pid)).toBe(true);
  } finally {
    process.kill(-(shell.pid as number), "SIGKILL");
    await once(shell, "exit").catch(() => {});
    client.close();
  }
});

function isGone(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return false;
  } catch {
    return true;
  }
}
