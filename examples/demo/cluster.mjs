// @ts-check
/**
 * The demo as a Deployment: a cluster in the sandbox, whose three pods run `tenure run` with a worker of orders. kubectl works beside
 * it. It measures at the service: a handover lasts from the last order of the old pod to the first order of the new one.
 */
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { KubeClient, loadConfig } from "@tenure/kube";
import { startService } from "../stream-worker/service.mjs";

const tenure = fileURLToPath(new URL("../../packages/cli/bin/tenure.cjs", import.meta.url));
const worker = fileURLToPath(new URL("../stream-worker/worker.mjs", import.meta.url));
const name = "orders";
const deploymentPath = `/apis/apps/v1/namespaces/default/deployments/${name}`;
const leasePath = `/apis/coordination.k8s.io/v1/namespaces/default/leases/${name}`;
const podsPath = "/api/v1/namespaces/default/pods";
const workMs = 2_000;
const withinMs = 90_000;

/** The path of the collection of each kind in the manifests. @type {Record<string, string>} */
const collections = {
  ServiceAccount: "/api/v1/namespaces/default/serviceaccounts",
  Role: "/apis/rbac.authorization.k8s.io/v1/namespaces/default/roles",
  RoleBinding: "/apis/rbac.authorization.k8s.io/v1/namespaces/default/rolebindings",
  Deployment: "/apis/apps/v1/namespaces/default/deployments",
  PodDisruptionBudget: "/apis/policy/v1/namespaces/default/poddisruptionbudgets",
};

/**
 * @param {object} options
 * @param {number} options.rate orders a second
 * @param {AbortSignal} options.signal ends the demo
 * @param {boolean} options.isScript whether to roll out, delete and scale, and then to end
 * @param {(line: string) => void} options.print
 * @returns {Promise<boolean>} whether every order was finished once
 */
export async function runCluster({ rate, signal, isScript, print }) {
  const folder = await mkdtemp(join(tmpdir(), "tenure-demo-"));
  const kubeconfig = join(folder, "kubeconfig");
  /** @type {{ worker: string, token: bigint, atMs: number } | undefined} */
  let last;
  let handovers = 0;
  const service = await startService({
    rate,
    log: () => {},
    onFinish(from, token) {
      const atMs = performance.now();
      if (last && last.token !== token) {
        handovers += 1;
        print(`${from} leads: ${Math.round(atMs - last.atMs)} ms after the last order of ${last.worker}`);
      }
      last = { worker: from, token, atMs };
    },
  });
  const sandbox = spawn(
    process.execPath,
    [
      ...[tenure, "sandbox", "--port", "0", "--nodes", "3", "--kubeconfig-out", kubeconfig],
      ...["--log-format", "json", "--image", `${name}=${process.execPath} ${tenure}`],
    ],
    { stdio: ["ignore", "pipe", "inherit"], env: { ...process.env, HOME: folder } },
  );
  const ended = once(sandbox, "exit");
  const client = new KubeClient(() => loadConfig({ kubeconfig }));
  try {
    await Promise.race([
      once(sandbox.stdout, "data"),
      ended.then(() => Promise.reject(new Error("The sandbox ended before it was ready."))),
    ]);
    await deploy(client, service.port);
    print("A Deployment with three pods is being rolled out. In another terminal:");
    print(`  export KUBECONFIG=${kubeconfig}`);
    print("  kubectl get pods -w");
    print(`  kubectl rollout restart deployment/${name}`);
    await until(async () => last !== undefined, signal);
    if (last) print(`${last.worker} leads`);
    if (isScript) await runSteps({ client, signal, print, leads: () => last?.token });
    else await once(signal, "abort");
    service.stopPlacing();
    const { ledger } = service;
    if (!signal.aborted) await until(async () => ledger.finished >= ledger.placed, signal);
    const { placed, finished, twice } = ledger.report();
    print(`${handovers} handovers; ${finished} of ${placed} orders finished, ${twice} of them twice`);
    return signal.aborted || (placed === finished && twice === 0);
  } finally {
    client.close();
    sandbox.kill("SIGTERM");
    await ended;
    await service.close();
    await rm(folder, { recursive: true, force: true });
  }
}

/** @param {KubeClient} client @param {number} port of the service */
async function deploy(client, port) {
  const command = [process.execPath, worker, "--server", `127.0.0.1:${port}`, "--concurrency", "4"];
  const options = ["--name", name, "--namespace", "default", "--image", `${name}:1`, "--output", "json"];
  const { stdout } = await promisify(execFile)(process.execPath, [
    tenure,
    "manifests",
    ...options,
    "--",
    ...command,
  ]);
  for (const object of JSON.parse(stdout).items) {
    const path = collections[object.kind];
    if (!path) throw new Error(`The demo does not know how to create a ${object.kind}.`);
    await client.request({ method: "POST", path, body: object });
  }
}

/**
 * @param {object} parts
 * @param {KubeClient} parts.client
 * @param {AbortSignal} parts.signal
 * @param {(line: string) => void} parts.print
 * @param {() => bigint | undefined} parts.leads the token of the present term
 */
async function runSteps({ client, signal, print, leads }) {
  /** @param {object} body */
  const patch = (body) =>
    client.request({
      method: "PATCH",
      path: deploymentPath,
      body,
      contentType: "application/merge-patch+json",
    });
  /** @param {number} replicas */
  const isRolledOut = (replicas) => async () => {
    const { metadata, status } = await client.request({ method: "GET", path: deploymentPath });
    const { observedGeneration, updatedReplicas, replicas: all, availableReplicas } = status ?? {};
    const isCurrent = observedGeneration === metadata.generation && updatedReplicas === replicas;
    return isCurrent && all === replicas && availableReplicas === replicas;
  };
  await until(isRolledOut(3), signal);

  print("--- kubectl rollout restart deployment/orders");
  let token = leads();
  const annotations = { "kubectl.kubernetes.io/restartedAt": new Date().toISOString() };
  await patch({ spec: { template: { metadata: { annotations } } } });
  await until(async () => leads() !== token && (await isRolledOut(3)()), signal);
  await sleep(workMs, undefined, { signal }).catch(() => {});

  print("--- kubectl delete pod, the leader's");
  token = leads();
  const { spec } = await client.request({ method: "GET", path: leasePath });
  await client.request({ method: "DELETE", path: `${podsPath}/${spec.holderIdentity}` });
  await until(async () => leads() !== token && (await isRolledOut(3)()), signal);
  await sleep(workMs, undefined, { signal }).catch(() => {});

  print("--- kubectl scale deployment/orders --replicas=5");
  await patch({ spec: { replicas: 5 } });
  await until(isRolledOut(5), signal);
  await sleep(workMs, undefined, { signal }).catch(() => {});
}

/** @param {() => Promise<boolean>} condition @param {AbortSignal} signal */
async function until(condition, signal) {
  const endMs = performance.now() + withinMs;
  while (!signal.aborted && !(await condition())) {
    if (performance.now() > endMs)
      throw new Error(`The cluster was not as expected within ${withinMs / 1_000} s.`);
    await sleep(50, undefined, { signal }).catch(() => {});
  }
}
