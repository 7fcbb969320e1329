/** Coordinated elections on a kube-apiserver that has them on. They are off by default, so this starts a server of its own. */
import { afterAll, beforeAll } from "vitest";
import { coordinatedContract } from "../conformance/coordinated-contract.ts";
import { startCluster } from "./cluster.mjs";

let cluster: Awaited<ReturnType<typeof startCluster>>;
beforeAll(async () => {
  cluster = await startCluster({
    apiServerFlags: [
      "--feature-gates=CoordinatedLeaderElection=true",
      "--runtime-config=coordination.k8s.io/v1beta1=true",
    ],
  });
});
afterAll(() => cluster?.stop());

coordinatedContract(() => cluster.kubeconfigPath);
