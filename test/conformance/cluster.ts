// Controllers, a scheduler and nodes that run nothing, on the API server under test. Nodes only mark pods as ready.

import { runControllers, runScheduler } from "@tenure/cluster";
import { KubeClient, loadConfig } from "@tenure/kube";
import { type FakeNodesOptions, startFakeNodes } from "../../packages/cluster/src/testing/fake-node.ts";
import { connectForLocks } from "./locks-target.ts";
import type { Target } from "./target.ts";

export interface TestCluster {
  readonly target: Target;
  readonly client: KubeClient;
  /** Path of the administrator's kubeconfig. */
  readonly kubeconfig: string;
  /** What the components could not do at once. */
  readonly errors: Error[];
  close(): Promise<void>;
}

export interface TestClusterOptions extends Pick<FakeNodesOptions, "becomesReady"> {
  nodes?: readonly string[];
  /** How long a node may give no sign of life. @default as for users */
  nodeGraceMs?: number;
}

export async function startTestCluster({
  nodes = ["node-1", "node-2", "node-3"],
  nodeGraceMs,
  becomesReady = () => true,
}: TestClusterOptions = {}): Promise<TestCluster> {
  const { target, kubeconfig, close } = await connectForLocks();
  const client = new KubeClient(() => loadConfig({ kubeconfig }));
  const stop = new AbortController();
  const errors: Error[] = [];
  const options = {
    client,
    identity: "conformance",
    signal: stop.signal,
    onError: (error: Error) => void errors.push(error),
  };
  const running = [runControllers({ ...options, nodeGraceMs, rootCa: "test" }), runScheduler(options)];
  await startFakeNodes({ client, names: nodes, signal: stop.signal, becomesReady });
  return {
    target,
    client,
    kubeconfig,
    errors,
    async close() {
      stop.abort();
      await Promise.all(running);
      client.close();
      await close();
    },
  };
}
