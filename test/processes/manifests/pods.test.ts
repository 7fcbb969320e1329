/**
 * Runs two pods of the manifests as processes against a sandbox, with exactly the arguments, the environment and the rights of
 * the Deployment and the Role. The test probes them like the kubelet, and stops one.
 */
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { type Sandbox, startSandbox } from "@tenure/sandbox";
import { afterEach, beforeEach, expect, test } from "vitest";
import { objectsFor } from "../../../packages/cli/src/commands/manifests/objects.ts";
import { trafficModes } from "../../../packages/cli/src/commands/manifests/options.ts";
import { eventually } from "../../conformance/locks-target.ts";
import { type Body, Target } from "../../conformance/target.ts";
import { collectionOf } from "./resources.ts";

const command = fileURLToPath(new URL("../../../packages/cli/bin/tenure.cjs", import.meta.url));
const [name, namespace] = ["billing", "prod"];
let sandbox: Sandbox;
let target: Target;
let folder: string;
let pods: Pod[];

beforeEach(async () => {
  sandbox = await startSandbox();
  target = new Target(sandbox.kubeconfig, true, () => sandbox.close());
  folder = await mkdtemp(join(tmpdir(), "tenure-pods-"));
  pods = [];
});
afterEach(async () => {
  for (const { child } of pods) {
    if (child.exitCode !== null || child.signalCode !== null) continue;
    child.kill("SIGKILL");
    await once(child, "close");
  }
  await target.close();
  await rm(folder, { recursive: true, force: true });
});

interface Pod {
  readonly name: string;
  readonly address: string;
  readonly child: ChildProcess;
  readonly statusPort: number;
  readonly tmp: string;
  said: string;
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as { port: number };
  server.close();
  return port;
}

const manifestsOf = (
  mode: "run" | "sidecar",
  traffic: (typeof trafficModes)[number],
  statusPort: number,
): Body[] =>
  objectsFor({
    ...{ name, namespace, image: "x:1", mode, traffic, statusPort, port: 3000 },
    ...(mode === "run" && { command: [process.execPath, "-e", "setInterval(() => {}, 1000)"] }),
  });

/** Starts the containers of a pod like the kubelet, with its own /tmp. */
async function startPod(
  mode: "run" | "sidecar",
  traffic: (typeof trafficModes)[number],
  index: number,
): Promise<Pod> {
  const statusPort = await freePort();
  const { spec, metadata } = manifestsOf(mode, traffic, statusPort).find(({ kind }) => kind === "Deployment")
    .spec.template;
  const container = (mode === "run" ? spec.containers : spec.initContainers)[0];
  const [pod, address, tmp] = [`${name}-${index}`, `10.0.0.${index}`, join(folder, String(index))];
  await mkdir(tmp);
  await target.request("POST", `/api/v1/namespaces/${namespace}/pods`, {
    metadata: { name: pod, labels: metadata.labels },
    spec: { containers: [{ name: "app", image: "x:1" }], automountServiceAccountToken: false },
  });
  const account = await sandbox.serviceAccount(namespace, spec.serviceAccountName);
  const fields: Record<string, string> = {
    "metadata.name": pod,
    "metadata.namespace": namespace,
    "status.podIP": address,
  };
  const env = Object.fromEntries(
    container.env.map((each: Body) => [each.name, fields[each.valueFrom.fieldRef.fieldPath]]),
  );
  const args = container.args.map((word: string) => word.replace("=/tmp/", `=${tmp}/`));
  const child = spawn(process.execPath, [command, ...args], {
    env: {
      ...account.env,
      ...env,
      TENURE_SERVICEACCOUNT_DIR: account.directory,
      TMPDIR: tmp,
      PATH: process.env.PATH,
    },
    stdio: ["ignore", "pipe", "pipe"],
  });
  const started: Pod = { name: pod, address, child, statusPort, tmp, said: "" };
  for (const stream of [child.stdout, child.stderr]) stream?.on("data", (chunk) => (started.said += chunk));
  pods.push(started);
  return started;
}

const answers = async ({ statusPort }: Pod, path: string) =>
  fetch(`http://127.0.0.1:${statusPort}${path}`).then(
    ({ ok }) => ok,
    () => false,
  );

/** The pods that receive traffic, according to the labels, endpoints or probes. */
async function reached(traffic: (typeof trafficModes)[number]): Promise<string[]> {
  const get = async (path: string) => (await target.request("GET", path)).body;
  switch (traffic) {
    case "none": {
      const { spec } = await get(`/apis/coordination.k8s.io/v1/namespaces/${namespace}/leases/${name}`);
      return pods.filter((pod) => pod.name === spec?.holderIdentity).map((pod) => pod.name);
    }
    case "label": {
      const { spec } = await get(`/api/v1/namespaces/${namespace}/services/${name}`);
      const selector = Object.entries(spec.selector).map(([key, value]) => `${key}=${value}`);
      const { items } = await get(
        `/api/v1/namespaces/${namespace}/pods?labelSelector=${encodeURIComponent(selector.join(","))}`,
      );
      return items.map(({ metadata }: Body) => metadata.name);
    }
    case "endpointslice": {
      const { items } = await get(
        `/apis/discovery.k8s.io/v1/namespaces/${namespace}/endpointslices?labelSelector=kubernetes.io%2Fservice-name%3D${name}`,
      );
      const addresses = items.flatMap(({ endpoints }: Body) =>
        endpoints.flatMap((each: Body) => each.addresses),
      );
      return pods.filter(({ address }) => addresses.includes(address)).map((pod) => pod.name);
    }
    default:
      return pods.filter(({ tmp }) => existsSync(join(tmp, "ready"))).map((pod) => pod.name);
  }
}

const combinations = (["run", "sidecar"] as const).flatMap((mode) =>
  trafficModes.map((traffic) => ({ mode, traffic })),
);

test.each(combinations)("$mode, $traffic", { timeout: 90_000 }, async ({ mode, traffic }) => {
  await target.request("POST", "/api/v1/namespaces", { metadata: { name: namespace } });
  for (const object of manifestsOf(mode, traffic, 1)) {
    expect((await target.request("POST", collectionOf(object), object)).status).toBe(201);
  }
  const isReached = (pod: Pod) => async () => {
    if (pod.child.exitCode !== null) throw new Error(pod.said);
    return (await reached(traffic)).join() === pod.name;
  };
  const first = await startPod(mode, traffic, 1);
  await eventually(isReached(first), `${first.name} receives traffic`);
  const second = await startPod(mode, traffic, 2);
  await eventually(() => answers(second, "/readyz"), `${second.name} answers probes`);
  expect(await reached(traffic)).toEqual([first.name]);
  expect(await answers(first, "/healthz")).toBe(true);
  expect(await answers(second, "/healthz")).toBe(true);

  first.child.kill("SIGTERM");
  const [code] = await once(first.child, "close");
  expect({ code, said: code === 0 ? "" : first.said }).toEqual({ code: 0, said: "" });
  await eventually(isReached(second), `${second.name} receives traffic`);
  if (traffic === "configmap") {
    const { body } = await target.request("GET", `/api/v1/namespaces/${namespace}/configmaps/${name}-leader`);
    expect(body.data).toEqual({ leader: second.name });
  }
  for (const { said } of pods) expect(said).not.toContain("is not allowed to");
});
