/** A leader has crashed, and the program of its successor is slow to start: the dead leader leaves traffic meanwhile. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { KubeClient, loadConfig } from "@tenure/kube";
import { endpointSlice } from "@tenure/traffic";
import { afterEach, expect, it } from "vitest";
import { connectForLocks, eventually } from "../../conformance/locks-target.ts";

const command = fileURLToPath(new URL("../../../packages/cli/bin/tenure.cjs", import.meta.url));
const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});

it("tenure run removes a dead leader from the slice before its own program is ready", async () => {
  const { target, kubeconfig, close } = await connectForLocks();
  cleanups.push(close);
  const namespace = await target.namespace();
  await target.request("POST", `/api/v1/namespaces/${namespace}/services`, {
    metadata: { name: "web" },
    spec: { ports: [{ name: "http", port: 80, targetPort: 8080 }] },
  });
  const client = new KubeClient(() => loadConfig({ kubeconfig }));
  cleanups.push(() => client.close());
  const dead = { client, namespace, service: "web", pod: "dead", address: "10.0.0.1", election: "web" };
  const term = { identity: "dead", token: 1n, isValid: () => true, remainingMs: () => 10_000 };
  await endpointSlice(dead).open(term);
  const path = `/apis/discovery.k8s.io/v1/namespaces/${namespace}/endpointslices/web-leader`;
  const addresses = async () =>
    (await target.request("GET", path)).body.endpoints?.flatMap(
      (each: { addresses: string[] }) => each.addresses,
    ) ?? [];
  expect(await addresses()).toEqual(["10.0.0.1"]);

  const child = spawn(
    process.execPath,
    [
      ...[command, "run", "--lease-lock-name=web", "--id=next", "--service=web", "--address=10.0.0.2"],
      ...["--ready=ipc", "--start-timeout=60s", "--log-format=json", "--"],
      ...[process.execPath, "-e", "setInterval(() => {}, 1000)"],
    ],
    {
      env: { ...process.env, KUBECONFIG: kubeconfig, NAMESPACE: namespace },
      stdio: ["ignore", "pipe", "pipe"],
    },
  );
  cleanups.push(async () => {
    child.kill("SIGTERM");
    await once(child, "exit");
  });
  let said = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk) => (said += chunk));
  await eventually(
    () => said.includes('"phase":"pre-leader"'),
    `the next leader starts its program: ${said}`,
  );
  await eventually(async () => (await addresses()).length === 0, `the slice is empty: ${said}`);
  expect(said).not.toContain('"phase":"leader"');
}, 60_000);
