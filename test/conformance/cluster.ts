// Controllers, a scheduler and nodes that run nothing, on the API server under test. Nodes only mark pods as ready.

import { runControllers, runScheduler } from "@tenure/cluster";
import { Election, LeaseLock } from "@tenure/election";
import { KubeClient, loadConfig } from "@tenure/kube";
import { type FakeNodesOptions, startFakeNodes } from "../../packages/cluster/src/testing/fake-node.ts";
import { connectForLocks } from "./locks-target.ts";
import type { Target } from "./target.ts";

/** Controllers and nodes act on the whole cluster, so on a given cluster only one test file at a time has them. */
export const turnMs = 900_000;

/** Whether the API server deletes what belongs to a deleted object. kube-apiserver alone does not. */
export const collectsGarbage = process.env.TENURE_CONFORMANCE_KUBECONFIG === undefined;

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
  const identity = `conformance-${process.pid}-${Math.random().toString(36).slice(2, 8)}`;
  const endTurn = await takeTurn(kubeconfig, identity);
  const stop = new AbortController();
  const errors: Error[] = [];
  const options = {
    client,
    identity,
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
      for (const name of nodes) await target.request("DELETE", `/api/v1/nodes/${name}`);
      client.close();
      await endTurn();
      await close();
    },
  };
}

/** Resolves when no other test file uses the cluster, with a function that lets the next one use it. */
async function takeTurn(kubeconfig: string, identity: string): Promise<() => Promise<void>> {
  const lock = new LeaseLock({ namespace: "default", name: "conformance-cluster", kubeconfig });
  const election = new Election({ lock, identity });
  const stop = new AbortController();
  return new Promise((resolve, reject) => {
    const running = election.run(
      (term) => {
        resolve(async () => {
          stop.abort();
          await running;
        });
        return new Promise<void>((ended) => term.signal.addEventListener("abort", () => ended()));
      },
      { signal: stop.signal },
    );
    running.catch(reject);
  });
}
