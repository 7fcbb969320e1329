import { spawn } from "node:child_process";
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { KubeClient } from "@tenure/kube";
import { type Sandbox, startSandbox } from "@tenure/sandbox";
import { afterEach, beforeEach, expect, it } from "vitest";
import { startNode } from "./node.ts";
import type { NodePod } from "./pod.ts";
import { clientOf, podsPath, shell, waitFor } from "./testing/node-rig.ts";

let sandbox: Sandbox;
let client: KubeClient;
let folder = "";
beforeEach(async () => {
  sandbox = await startSandbox();
  client = clientOf(sandbox);
  folder = mkdtempSync(join(tmpdir(), "tenure-restart-"));
  await client.request({
    method: "POST",
    path: "/api/v1/namespaces/default/configmaps",
    body: {
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { name: "kube-root-ca.crt" },
      data: { "ca.crt": "x" },
    },
  });
});
afterEach(async () => {
  client.close();
  await sandbox.close();
  rmSync(folder, { recursive: true, force: true });
});

/** A node agent in a process of its own, which can be killed. */
async function startProcess() {
  const file = (path: string) => JSON.stringify(fileURLToPath(new URL(path, import.meta.url)));
  const script = `
    import { KubeClient } from ${file("../../../kube/dist/index.js")};
    import { startNode } from ${file("../../dist/index.js")};
    const headers = { Authorization: "Bearer ${sandbox.adminToken}" };
    const credentials = { headers: async () => headers, tls: async () => ({}), refresh: async () => {} };
    const client = new KubeClient({ server: "${sandbox.url}", ca: ${JSON.stringify(sandbox.caPem)}, credentials });
    const node = await startNode({ client, name: "node-0", dataDirectory: ${JSON.stringify(join(folder, "data"))}, isolation: "none" });
    await node.ready;
    console.log("ready");
    setInterval(() => {}, 1000);`;
  const path = join(folder, "agent.mjs");
  writeFileSync(path, script);
  const child = spawn(process.execPath, [path], { stdio: ["ignore", "pipe", "inherit"] });
  await new Promise<void>((resolve, reject) => {
    child.stdout.once("data", () => resolve());
    child.once("exit", (code) => reject(new Error(`the agent exited with code ${code}`)));
  });
  child.removeAllListeners("exit");
  return child;
}

/** The processes whose command line contains the text. */
function processesWith(text: string): number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .filter((name) => {
      try {
        return readFileSync(`/proc/${name}/cmdline`, "utf8").includes(text);
      } catch {
        return false;
      }
    })
    .map(Number);
}

const pod = (name: string) => client.request<NodePod>({ method: "GET", path: `${podsPath}/${name}` });
const isRunning = ({ status }: NodePod) => status?.containerStatuses?.[0]?.state?.running !== undefined;
const createSleeper = (seconds: string) =>
  client.request({
    method: "POST",
    path: podsPath,
    body: {
      apiVersion: "v1",
      kind: "Pod",
      metadata: { name: "sleeper" },
      spec: { nodeName: "node-0", containers: [shell(`setsid sleep ${seconds} & exec sleep ${seconds}`)] },
    },
  });

it("no process survives kill -9 of the agent, and the next agent starts the container again", async () => {
  const seconds = `86400.${process.pid}1`;
  const agent = await startProcess();
  await createSleeper(seconds);
  await waitFor(() => pod("sleeper"), isRunning);
  await expect.poll(() => processesWith(`sleep\0${seconds}`).length).toBe(2);
  agent.kill("SIGKILL");
  await expect.poll(() => processesWith(`sleep\0${seconds}`)).toEqual([]);
  const next = await startNode({
    client,
    name: "node-0",
    dataDirectory: join(folder, "data"),
    isolation: "none",
  });
  try {
    const again = await waitFor(
      () => pod("sleeper"),
      (found) => isRunning(found) && found.status?.containerStatuses?.[0]?.restartCount === 1,
    );
    expect(again.status?.containerStatuses?.[0]?.lastState?.terminated?.reason).toBe(
      "ContainerStatusUnknown",
    );
  } finally {
    await next.stop();
  }
  expect(processesWith(`sleep\0${seconds}`)).toEqual([]);
});

it("the next agent kills what was left when agent and watchdog were killed together", async () => {
  const seconds = `86400.${process.pid}2`;
  const agent = await startProcess();
  await createSleeper(seconds);
  await waitFor(() => pod("sleeper"), isRunning);
  await expect.poll(() => processesWith(`sleep\0${seconds}`).length).toBe(2);
  const watchdogs = processesWith(`tenure-watchdog of ${agent.pid}`);
  expect(watchdogs).toHaveLength(1);
  // A stopped watchdog does not notice the end of the agent.
  for (const watchdog of watchdogs) process.kill(watchdog, "SIGSTOP");
  const exited = new Promise((resolve) => agent.once("exit", resolve));
  agent.kill("SIGKILL");
  for (const watchdog of watchdogs) process.kill(watchdog, "SIGKILL");
  // As long as it is alive, the folder is its own.
  await exited;
  const before = processesWith(`sleep\0${seconds}`);
  expect(before).toHaveLength(2);
  const next = await startNode({
    client,
    name: "node-0",
    dataDirectory: join(folder, "data"),
    isolation: "none",
  });
  try {
    await expect
      .poll(() => processesWith(`sleep\0${seconds}`).filter((pid) => before.includes(pid)))
      .toEqual([]);
  } finally {
    await next.stop();
  }
});

it("two agents cannot use the same folder", async () => {
  const agent = await startProcess();
  try {
    const second = startNode({
      client,
      name: "node-0",
      dataDirectory: join(folder, "data"),
      isolation: "none",
    });
    await expect(second).rejects.toThrow(`process ${agent.pid} uses the folder`);
  } finally {
    agent.kill("SIGKILL");
  }
});
