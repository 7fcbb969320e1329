/**
 * A sandbox with nodes that keeps its data on disk is killed with SIGKILL, in the middle of writes and of a rollout, and started
 * again. What was acknowledged is still there, no process of a pod is left, and the rollout goes on.
 */
import { mkdtemp, readdir, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { KubeClient, loadConfig } from "@tenure/kube";
import { afterEach, beforeEach, expect, it } from "vitest";
import { DeploymentWatch, deployment } from "../../conformance/deployment-watch.ts";
import { endAll, type Running, start } from "../operate/commands.ts";

/** TENURE_CRASHES=22 npm run test:processes -- cluster/crash */
const crashes = Number(process.env.TENURE_CRASHES ?? 2);
const longMs = 50_000;
const configMaps = "/api/v1/namespaces/default/configmaps";

let folder: string;
let client: KubeClient;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "tenure-crash-"));
});
afterEach(async () => {
  client?.close();
  endAll();
  await rm(folder, { recursive: true, force: true });
});

async function startSandbox(): Promise<Running> {
  const kubeconfig = join(folder, "kubeconfig");
  const flags = ["--port", "0", "--nodes", "2", "--data-dir", join(folder, "data")];
  const sandbox = start(["sandbox", ...flags, "--kubeconfig-out", kubeconfig], { HOME: folder });
  await sandbox.line(/"ready"/);
  client?.close();
  client = new KubeClient(() => loadConfig({ kubeconfig }));
  return sandbox;
}

/** The processes of the machine whose command line contains a text. */
async function processesWith(text: string): Promise<string[]> {
  const pids = (await readdir("/proc")).filter((name) => /^\d+$/.test(name));
  const lines = await Promise.all(
    pids.map((pid) => readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => "")),
  );
  return lines.filter((line) => line.includes(text));
}

/** Updates one ConfigMap after the other, and remembers what the server has acknowledged. */
function writeUntilItBreaks(count: number, acknowledged: Map<string, number>): Promise<unknown> {
  const writer = async (index: number) => {
    const name = `written-${index}`;
    try {
      for (let value = (acknowledged.get(name) ?? 0) + 1; ; value++) {
        const body = { metadata: { name }, data: { value: String(value) } };
        const isNew = value === 1;
        const path = isNew ? configMaps : `${configMaps}/${name}`;
        await client.request({ method: isNew ? "POST" : "PUT", path, body });
        acknowledged.set(name, value);
      }
    } catch {
      // The server was killed.
    }
  };
  return Promise.all(Array.from({ length: count }, (_, index) => writer(index)));
}

it(
  `after each of ${crashes} crashes nothing acknowledged is lost, no process is left, and the rollout ends`,
  async () => {
    const acknowledged = new Map<string, number>();
    // A number that no other process of this machine has.
    const mark = `86400.${process.pid}`;
    let image = "sleep:0";
    let sandbox = await startSandbox();
    const web = deployment("web", { replicas: 4 });
    web.spec.template.spec.containers = [{ name: "web", image, command: ["sleep", mark] }];
    web.spec.template.spec.terminationGracePeriodSeconds = 1;
    let watch = new DeploymentWatch(client, "default", "web");
    await watch.create(web);
    await watch.rolledOut(longMs);
    expect(await processesWith(mark)).not.toEqual([]);

    for (let round = 1; round <= crashes; round++) {
      image = `sleep:${round}`;
      const writing = writeUntilItBreaks(4, acknowledged);
      const updated = () => watch.active.filter(({ spec }) => spec.containers[0].image === image).length;
      await watch.patch({ spec: { template: { spec: { containers: [{ name: "web", image }] } } } });
      await watch.until(`in the middle of rollout ${round}`, () => updated() >= 1 + (round % 3), longMs);
      sandbox.kill("SIGKILL");
      await sandbox.ran;
      await writing;
      await watch.close();
      // The watchdog kills them, without the sandbox.
      await expect.poll(() => processesWith(mark)).toEqual([]);

      sandbox = await startSandbox();
      for (const [name, value] of acknowledged) {
        const { data } = await client.request<{ data: { value: string } }>({
          method: "GET",
          path: `${configMaps}/${name}`,
        });
        // The write that was under way may have happened too.
        expect([value, value + 1]).toContain(Number(data.value));
        acknowledged.set(name, Number(data.value));
      }
      watch = new DeploymentWatch(client, "default", "web");
      await watch.until(`updated after crash ${round}`, () => updated() === 4, longMs);
      await watch.rolledOut(longMs);
      await watch.until("without another pod", () => watch.active.length === 4, longMs);
    }
    await watch.close();
    sandbox.kill("SIGTERM");
    await sandbox.ran;
    expect(await processesWith(mark)).toEqual([]);
  },
  60_000 + crashes * 90_000,
);
