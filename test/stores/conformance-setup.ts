/**
 * The server for the conformance suite. Without TENURE_STORE_SERVER it is a sandbox on an etcd with three members. With it, a
 * kube-apiserver and a sandbox run on one etcd, and the variable names the one to test: "sandbox" or "kube-apiserver".
 */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openEtcdStore, startSandbox } from "../../packages/sandbox/dist/index.js";
import { startCluster } from "../kube/cluster.mjs";
import { startEtcd } from "./etcd.mjs";

const side = process.env.TENURE_STORE_SERVER;

export default async function setUp(): Promise<() => Promise<void>> {
  const folder = await mkdtemp(join(tmpdir(), "tenure-conformance-"));
  const { endpoints, kubeconfigPath, stop } = await startStore();
  const store = await openEtcdStore({ endpoints });
  const sandbox = await startSandbox({ store });
  const kubeconfig = join(folder, "kubeconfig");
  await sandbox.writeKubeconfig(kubeconfig);
  process.env.TENURE_CONFORMANCE_KUBECONFIG = kubeconfigPath ?? kubeconfig;
  return async () => {
    await sandbox.close();
    await store.close();
    await stop();
    await rm(folder, { recursive: true, force: true });
  };
}

async function startStore() {
  if (side === undefined) {
    const etcd = await startEtcd({ members: 3 });
    return { endpoints: etcd.endpoints, kubeconfigPath: undefined, stop: () => etcd.stop() };
  }
  if (side !== "sandbox" && side !== "kube-apiserver")
    throw new Error(`TENURE_STORE_SERVER must be sandbox or kube-apiserver: ${side}`);
  const cluster = await startCluster({ apiServerFlags: ["--storage-media-type=application/json"] });
  // As in test:kube: a restart empties the watch cache.
  await cluster.restartApiServer();
  return {
    endpoints: [cluster.etcdServer],
    kubeconfigPath: side === "kube-apiserver" ? cluster.kubeconfigPath : undefined,
    stop: () => cluster.stop(),
  };
}
