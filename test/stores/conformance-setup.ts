/** A sandbox on an etcd with three members, for the conformance suite. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openEtcdStore, startSandbox } from "../../packages/sandbox/dist/index.js";
import { startEtcd } from "./etcd.mjs";

export default async function setUp(): Promise<() => Promise<void>> {
  const folder = await mkdtemp(join(tmpdir(), "tenure-conformance-"));
  const etcd = await startEtcd({ members: 3 });
  const store = await openEtcdStore({ endpoints: etcd.endpoints });
  const sandbox = await startSandbox({ store });
  const kubeconfig = join(folder, "kubeconfig");
  await sandbox.writeKubeconfig(kubeconfig);
  process.env.TENURE_CONFORMANCE_KUBECONFIG = kubeconfig;
  return async () => {
    await sandbox.close();
    await store.close();
    await etcd.stop();
    await rm(folder, { recursive: true, force: true });
  };
}
