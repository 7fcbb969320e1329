/**
 * Everything that `tenure manifests` prints, the example of deploy/kustomize and the Helm chart, in a sandbox that runs pods: they
 * become ready, are rolled over, and the Service reaches whom it should. The containers are real processes of `tenure run` and
 * `tenure sidecar`. They are applied with kubectl: $TENURE_KUBECTL, or the one in PATH.
 */
import { execFile, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { cp, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { KubeClient, loadConfig } from "@tenure/kube";
import { afterAll, beforeAll, describe, type ExpectStatic, it } from "vitest";
import { objectsFor } from "../../../packages/cli/src/commands/manifests/objects.ts";
import {
  type ManifestOptions,
  modes,
  trafficModes,
} from "../../../packages/cli/src/commands/manifests/options.ts";
import { networkObstacle } from "../../../packages/cluster/src/node/testing/network-obstacle.ts";
import { DeploymentWatch } from "../../conformance/deployment-watch.ts";
import type { Body } from "../../conformance/target.ts";
import { findHelm, findNewestKubectl } from "../../kube/tools.mjs";
import { collectionOf } from "../manifests/resources.ts";
import { endAll, start as startCommand } from "../operate/commands.ts";

const tenureFolder = fileURLToPath(new URL("../../../packages/cli", import.meta.url));
const library = fileURLToPath(new URL("library-worker.mjs", import.meta.url));
const example = fileURLToPath(new URL("../../../deploy/kustomize/example", import.meta.url));
const chart = fileURLToPath(new URL("../../../deploy/helm/tenure", import.meta.url));
const helm = await findHelm();
const kubectl = process.env.TENURE_KUBECTL ?? "kubectl";
const hasKubectl = spawnSync(kubectl, ["version", "--client"]).status === 0;
const longMs = 60_000;
/** The program of the manifests: it answers on its port until it is told to stop. */
const server =
  "process.once('SIGTERM', () => process.exit()); require('http').createServer((_, a) => a.end('hello')).listen(3000)";
let folder: string;
let client: KubeClient;

const get = <T = Body>(path: string) => client.request<T>({ method: "GET", path });

async function createNamespace(name: string): Promise<void> {
  await client.request({ method: "POST", path: "/api/v1/namespaces", body: { metadata: { name } } });
}

async function apply(namespace: string, objects: readonly Body[]): Promise<void> {
  await createNamespace(namespace);
  if (!hasKubectl) {
    for (const object of objects)
      await client.request({ method: "POST", path: collectionOf(object), body: object });
    return;
  }
  const child = spawn(kubectl, ["apply", "-f", "-"], {
    env: userEnvironment(),
    stdio: ["pipe", "inherit", "inherit"],
  });
  child.stdin.end(JSON.stringify({ apiVersion: "v1", kind: "List", items: objects }));
  const [code] = await once(child, "close");
  if (code !== 0) throw new Error(`kubectl apply ended with ${code}`);
}

const userEnvironment = () => ({ ...process.env, HOME: folder, KUBECONFIG: join(folder, "kubeconfig") });

/** Waits until all pods are of this generation of the Deployment, and as many are ready as there should be. */
async function rolledOut(watch: DeploymentWatch, ready: number, generation = 1): Promise<void> {
  await watch.until(
    "rolled out",
    () => {
      const { spec, status = {} } = watch.deployment ?? {};
      if (!spec || status.observedGeneration !== generation) return false;
      const { replicas } = spec;
      const isUpdated = status.updatedReplicas === replicas && status.replicas === replicas;
      return isUpdated && (status.availableReplicas ?? 0) === ready && watch.pods.length === replicas;
    },
    longMs,
  );
}

/** The addresses that the Service reaches. */
async function reachable(namespace: string, name: string): Promise<string[]> {
  const path = `/apis/discovery.k8s.io/v1/namespaces/${namespace}/endpointslices?labelSelector=kubernetes.io/service-name=${name}`;
  const { items } = await get<{ items: Body[] }>(path);
  const endpoints = items.flatMap(({ endpoints }) => endpoints ?? []);
  return endpoints
    .filter(({ conditions }) => conditions?.ready !== false)
    .flatMap(({ addresses }) => addresses);
}

async function leaderOf(namespace: string, name: string): Promise<string> {
  const { spec } = await get(`/apis/coordination.k8s.io/v1/namespaces/${namespace}/leases/${name}`);
  return spec?.holderIdentity ?? "";
}

async function address(namespace: string, pod: string): Promise<string> {
  return (await get(`/api/v1/namespaces/${namespace}/pods/${pod}`)).status.podIP;
}

async function becomesReadyAndRollsOver(
  expect: ExpectStatic,
  namespace: string,
  name: string,
  { ready, toLeader }: { ready: number; toLeader: boolean },
): Promise<void> {
  const watch = new DeploymentWatch(client, namespace, name);
  try {
    await rolledOut(watch, ready);
    const before = new Set(watch.pods.map(({ metadata }) => metadata.name));
    const annotations = { "kubectl.kubernetes.io/restartedAt": "2030-01-01T00:00:00Z" };
    const { metadata } = await watch.patch({ spec: { template: { metadata: { annotations } } } });
    await rolledOut(watch, ready, metadata.generation);
    expect(watch.pods.filter(({ metadata }) => before.has(metadata.name))).toEqual([]);
    const names = watch.pods.map(({ metadata }) => metadata.name);
    await expect.poll(() => leaderOf(namespace, name)).toSatisfy((leader: string) => names.includes(leader));
    if (!toLeader) return;
    const isLeaderOnly = async () => {
      const reached = await reachable(namespace, name);
      return (
        reached.length === 1 && reached[0] === (await address(namespace, await leaderOf(namespace, name)))
      );
    };
    await expect.poll(isLeaderOnly, { timeout: longMs }).toBe(true);
  } finally {
    await watch.close();
    await client.request({ method: "DELETE", path: `/api/v1/namespaces/${namespace}` });
  }
}

const variants = modes.flatMap((mode) => trafficModes.map((traffic) => ({ mode, traffic })));

const obstacle = await networkObstacle();
if (obstacle)
  console.warn(`Pods have no network of their own on this machine, so manifests are not tried: ${obstacle}`);

describe.skipIf(obstacle !== undefined)("in a sandbox that runs pods", () => {
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "tenure-manifests-"));
    const kubeconfig = join(folder, "kubeconfig");
    // The image of the example: a folder with worker.js and tenure, which is its entry point.
    const billing = join(folder, "billing");
    await mkdir(billing);
    await writeFile(join(billing, "worker.js"), server);
    for (const part of ["bin", "bundle", "package.json"])
      await cp(join(tenureFolder, part), join(billing, "tenure", part), { recursive: true });
    const start = `${process.execPath} tenure/bin/tenure.cjs`;
    await writeFile(join(billing, "package.json"), JSON.stringify({ scripts: { start } }));
    const tenure = `${process.execPath} ${join(tenureFolder, "bin/tenure.cjs")}`;
    const images = [`billing=${billing}`, ...["tenure", "worker"].map((name) => `${name}=${tenure}`)];
    // With a network of their own, pods have addresses that an EndpointSlice may name.
    const nodes = ["--nodes", "3", "--isolation", "network"];
    const flags = ["--port", "0", ...nodes, "--kubeconfig-out", kubeconfig, "--image", ...images];
    await startCommand(["sandbox", ...flags], { HOME: folder }).line(/"ready"/);
    client = new KubeClient(() => loadConfig({ kubeconfig }));
  });
  afterAll(async () => {
    client.close();
    endAll();
    await rm(folder, { recursive: true, force: true });
  });

  it.concurrent.for(variants.filter(({ mode }) => mode !== "library"))(
    "$mode with traffic $traffic becomes ready and rolls over",
    { timeout: 240_000 },
    async ({ mode, traffic }, { expect }) => {
      const namespace = `${mode}-${traffic}`;
      const options: ManifestOptions = {
        ...{ name: "worker", namespace, image: "worker:1", mode, traffic, port: 3000 },
        command: [process.execPath, "-e", server],
      };
      await apply(namespace, objectsFor(options) as Body[]);
      const isOnlyLeaderReady = traffic === "ready-file" || traffic === "configmap";
      await becomesReadyAndRollsOver(expect, namespace, "worker", {
        ready: isOnlyLeaderReady ? 1 : 3,
        toLeader: traffic !== "none",
      });
    },
  );

  it.concurrent("the library becomes ready and rolls over", async ({ expect }) => {
    const namespace = "library-none";
    const options = {
      name: "worker",
      namespace,
      image: "worker:1",
      port: 3000,
      mode: "library",
      command: [process.execPath, library],
    } as const;
    await apply(namespace, objectsFor(options) as Body[]);
    await becomesReadyAndRollsOver(expect, namespace, "worker", { ready: 3, toLeader: false });
  }, 240_000);

  it.concurrent("the example of kustomize becomes ready and rolls over, also with the newest kubectl", async ({
    expect,
    skip,
  }) => {
    skip(!hasKubectl, "kubectl is not installed");
    const newest = await findNewestKubectl();
    const isGone = () =>
      get("/api/v1/namespaces/prod").then(
        () => false,
        () => true,
      );
    for (const program of [kubectl, ...(newest ? [newest] : [])]) {
      await expect.poll(isGone, { timeout: longMs }).toBe(true);
      await createNamespace("prod");
      await promisify(execFile)(program, ["apply", "-k", example], { env: userEnvironment() });
      await becomesReadyAndRollsOver(expect, "prod", "worker", { ready: 2, toLeader: true });
    }
  }, 240_000);

  it.concurrent("the Helm chart becomes ready and rolls over", async ({ expect, skip }) => {
    if (!helm) return skip("helm is not installed, and there is no go command to build it");
    const values = {
      image: "worker:1",
      traffic: "label",
      port: 3000,
      command: [process.execPath, "-e", server],
    };
    const sets = Object.entries(values).map(([key, value]) => `--set-json=${key}=${JSON.stringify(value)}`);
    const args = ["install", "worker", chart, "--namespace", "helm", "--create-namespace", "--wait", ...sets];
    await promisify(execFile)(helm, args, { env: userEnvironment() });
    await becomesReadyAndRollsOver(expect, "helm", "worker", { ready: 3, toLeader: true });
  }, 240_000);
});
