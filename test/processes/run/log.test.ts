/** A leader whose log, or the output of its child, nobody reads. */
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { KubeClient, loadConfig } from "@tenure/kube";
import { expect, it } from "vitest";
import { shellCommand, startTenure } from "./replicas.ts";
import { newWorld } from "./world.ts";

const command = fileURLToPath(new URL("../../../packages/cli/bin/tenure.cjs", import.meta.url));
interface Lease {
  readonly spec: { readonly renewTime: string; readonly leaseTransitions: number };
}

async function leaseOf(client: KubeClient, name: string): Promise<Lease["spec"]> {
  const path = `/apis/coordination.k8s.io/v1/namespaces/default/leases/${name}`;
  return (await client.request<Lease>({ method: "GET", path })).spec;
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
    const lease = () => leaseOf(client, "unread");
    await expect.poll(() => lease().catch(() => undefined)).toBeDefined();
    const before = await lease();
    const soonMs = Date.parse(before.renewTime) + 8_000;
    await expect
      .poll(async () => Date.parse((await lease()).renewTime), { timeout: 15_000, interval: 200 })
      .toBeGreaterThan(soonMs);
    expect((await lease()).leaseTransitions).toBe(before.leaseTransitions);
    const pid = Number(readFileSync(pidFile, "utf8"));
    process.kill(pid, "SIGTERM");
    await expect.poll(() => isGone(pid)).toBe(true);
  } finally {
    process.kill(-(shell.pid as number), "SIGKILL");
    await once(shell, "exit").catch(() => {});
    client.close();
  }
});

const canOpenTerminal = spawnSync("script", ["-qec", "true", "/dev/null"]).status === 0;

it.runIf(canOpenTerminal)(
  "keeps leading on a terminal that is stopped (Ctrl-S), although the output of the child goes through it",
  { timeout: 40_000 },
  async () => {
    const client = new KubeClient(loadConfig({ kubeconfig: world.kubeconfig }));
    const pidFile = join(world.folder, "tenure.pid");
    const run = ["run", "--kubeconfig", world.kubeconfig, "--lease-lock-name", "stopped", "--id", "a"];
    // Expires within the test, but not because the machine is busy.
    const lease = ["--lease-duration", "6s", "--renew-deadline", "4s", "--retry-period", "500ms"];
    const child = ["--log-prefix", "> ", "--", "sh", "-c", `echo $PPID > ${pidFile}; exec yes`];
    const terminal = startTenure([], {}, [
      ...["script", "-qec", shellCommand([...run, ...lease, ...child]), "/dev/null"],
    ]);
    try {
      await expect
        .poll(() => existsSync(pidFile) && readFileSync(pidFile, "utf8"), { timeout: 15_000 })
        .toMatch(/\d\n/);
      const pid = Number(readFileSync(pidFile, "utf8"));
      terminal.kill("SIGSTOP");
      const before = await leaseOf(client, "stopped");
      const soonMs = Date.parse(before.renewTime) + 7_000;
      await expect
        .poll(async () => Date.parse((await leaseOf(client, "stopped")).renewTime), {
          timeout: 15_000,
          interval: 200,
        })
        .toBeGreaterThan(soonMs);
      process.kill(pid, "SIGTERM");
      await expect.poll(() => isGone(pid), { timeout: 10_000 }).toBe(true);
      expect((await leaseOf(client, "stopped")).leaseTransitions).toBe(before.leaseTransitions);
    } finally {
      client.close();
    }
  },
);

function isGone(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return false;
  } catch {
    return true;
  }
}
