/** `tenure watch --record`: what it writes can be read again, and a file that cannot be written is reported. */
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { systemClock } from "@tenure/base";
import { KubeClient, loadConfig } from "@tenure/kube";
import { type Sandbox, startSandbox } from "@tenure/sandbox";
import { readRecording } from "@tenure/ui";
import { afterAll, beforeAll, expect, it } from "vitest";
import { runCommandLine } from "../../command-line.ts";
import { fakePlatform } from "../../testing/fake-platform.ts";

let sandbox: Sandbox;
let home: string;
let client: KubeClient;
beforeAll(async () => {
  sandbox = await startSandbox();
  home = await mkdtemp(join(tmpdir(), "tenure-record-"));
  await sandbox.writeKubeconfig(join(home, "kubeconfig"));
  client = new KubeClient(() => loadConfig({ kubeconfig: join(home, "kubeconfig") }));
});
afterAll(async () => {
  client.close();
  await sandbox.close();
  await rm(home, { recursive: true });
});

const path = "/apis/coordination.k8s.io/v1/namespaces/default/leases";
const spec = (holderIdentity: string, leaseTransitions: number) => {
  const time = new Date().toISOString().replace("Z", "000Z");
  return { holderIdentity, leaseDurationSeconds: 15, acquireTime: time, renewTime: time, leaseTransitions };
};

async function watch(args: string) {
  const platform = fakePlatform(`watch x -n default --kubeconfig ${join(home, "kubeconfig")} ${args}`, {
    home,
  });
  platform.clock = systemClock;
  return { platform, ended: runCommandLine(platform) };
}

it("records every change, and the end", async () => {
  const created = await client.request<{ metadata: object }>({
    method: "POST",
    path,
    body: { metadata: { name: "x" }, spec: spec("pod-a", 0) },
  });
  const file = join(home, "x.ndjson");
  const { platform, ended } = await watch(`--record ${file}`);
  await platform.firstOutput;
  const { metadata } = await client.request<{ metadata: { resourceVersion: string } }>({
    method: "PUT",
    path: `${path}/x`,
    body: { ...created, spec: spec("pod-b", 1) },
  });
  await expect.poll(() => platform.printed).toContain("pod-b leads");
  platform.interrupt();
  expect(await ended).toBe(0);
  const { header, observations } = readRecording(await readFile(file, "utf8"), file);
  expect(header.source).toBe("tenure watch x -n default");
  expect(observations).toMatchObject([
    { kind: "lock", election: "default/x", holder: "pod-a", transitions: 0, leaseMs: 15_000 },
    { kind: "lock", holder: "pod-b", transitions: 1, token: metadata.resourceVersion },
    { kind: "time" },
  ]);
});

it("says that it cannot write the file", async () => {
  const { platform, ended } = await watch(`--record ${home}/missing/x.ndjson`);
  expect(await ended).toBe(1);
  expect(platform.complained).toContain(`Cannot record to ${home}/missing/x.ndjson: ENOENT`);
});

it("--replica without --record is a mistake", async () => {
  const { platform, ended } = await watch("--replica http://127.0.0.1:1");
  expect(await ended).toBe(2);
  expect(platform.complained).toContain("--replica needs --record");
});
