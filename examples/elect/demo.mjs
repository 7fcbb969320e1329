// Three replicas of elect.mjs on the sandbox: one leads, it is stopped and another one follows, that one is killed and the
// third one follows when the lease has run out. Takes about half a minute and leaves nothing behind.
//   npm run demo
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { KubeClient, loadConfig } from "@tenure/kube";
import { startSandbox } from "@tenure/sandbox";

const startedMs = performance.now();
const say = (text) =>
  console.log(`${((performance.now() - startedMs) / 1_000).toFixed(3).padStart(7)}s  ${text}`);

const sandbox = await startSandbox();
const folder = await mkdtemp(join(tmpdir(), "tenure-demo-"));
const kubeconfig = join(folder, "kubeconfig");
await sandbox.writeKubeconfig(kubeconfig);
const client = new KubeClient(() => loadConfig({ kubeconfig }));
say(`a Kubernetes API in this process: ${sandbox.url}`);

/** Who printed that it leads, and when; `leads` waits for the next one. */
let onLeads = () => {};
let stoppedMs = 0;
const leads = () => new Promise((resolve) => (onLeads = resolve));
const replicas = new Map();

function start(name) {
  const program = fileURLToPath(new URL("./elect.mjs", import.meta.url));
  const child = spawn(process.execPath, [program, name], {
    env: { ...process.env, KUBECONFIG: kubeconfig },
    stdio: ["ignore", "pipe", "inherit"],
  });
  replicas.set(name, child);
  createInterface({ input: child.stdout }).on("line", (line) => {
    if (line !== "working") say(`${name}: ${line}`);
    if (line === "stopped working") stoppedMs = performance.now();
    if (line.includes("leads with token")) onLeads({ name, atMs: performance.now() });
  });
}

async function end(name, signal) {
  const child = replicas.get(name);
  replicas.delete(name);
  child.kill(signal);
  await once(child, "exit");
}

for (const signal of ["SIGINT", "SIGTERM"]) {
  process.once(signal, async () => {
    for (const child of replicas.values()) child.kill("SIGKILL");
    await rm(folder, { recursive: true, force: true });
    process.exit(1);
  });
}

try {
  const first = leads();
  for (const name of ["a", "b", "c"]) start(name);
  const leader = await first;
  await sleep(2_000);

  say(`--- SIGINT to ${leader.name}: its work stops, then the lease is released`);
  const second = leads();
  await end(leader.name, "SIGINT");
  const successor = await second;
  const gapMs = (successor.atMs - stoppedMs).toFixed(0);
  say(`--- ${successor.name} leads ${gapMs} ms after ${leader.name} had stopped working`);
  await sleep(2_000);

  const third = leads();
  const path = "/apis/coordination.k8s.io/v1/namespaces/default/leases/example";
  const { spec } = await client.request({ method: "GET", path });
  await end(successor.name, "SIGKILL");
  const expiresMs = Date.parse(spec.renewTime) + spec.leaseDurationSeconds * 1_000;
  say(
    `--- kill -9 ${successor.name}: nobody is told; its lease runs out in ${((expiresMs - Date.now()) / 1_000).toFixed(1)} s`,
  );
  const last = await third;
  say(`--- ${last.name} leads ${(Date.now() - expiresMs).toFixed(0)} ms after the lease ran out`);
} finally {
  for (const name of [...replicas.keys()]) await end(name, "SIGINT");
  client.close();
  await sandbox.close();
  await rm(folder, { recursive: true, force: true });
}
say("nothing is left running");
