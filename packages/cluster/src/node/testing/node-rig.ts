/** A sandbox with one node, for tests with real processes. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { sleep, systemClock } from "@tenure/base";
import { KubeClient } from "@tenure/kube";
import { type Sandbox, startSandbox } from "@tenure/sandbox";
import { type NodeOptions, type RunningNodes, startNode } from "../node.ts";
import type { NodeContainer, NodePod, NodePodSpec } from "../pod.ts";

export interface NodeRig {
  readonly sandbox: Sandbox;
  readonly client: KubeClient;
  readonly node: RunningNodes;
  readonly folder: string;
  readonly errors: unknown[];
  /** Creates a pod on the node. */
  create(name: string, spec: Partial<NodePodSpec> & { containers: NodeContainer[] }): Promise<NodePod>;
  pod(name: string): Promise<NodePod | undefined>;
  /** Waits until the pod is as expected. */
  until(name: string, expected: (pod: NodePod) => boolean): Promise<NodePod>;
  untilGone(name: string): Promise<void>;
  remove(name: string, gracePeriodSeconds?: number): Promise<void>;
  close(): Promise<void>;
}

export const podsPath = "/api/v1/namespaces/default/pods";
/** Only ends a test that fails; a busy machine may take its time. */
const withinMs = 25_000;

export function clientOf(sandbox: Sandbox): KubeClient {
  const headers = { Authorization: `Bearer ${sandbox.adminToken}` };
  return new KubeClient({
    server: sandbox.url,
    ca: sandbox.caPem,
    credentials: { headers: async () => headers, tls: async () => ({}), refresh: async () => {} },
  });
}

/** A container that runs a shell script. */
export const shell = (script: string, more: Partial<NodeContainer> = {}): NodeContainer => ({
  name: "app",
  image: "shell",
  command: ["/bin/sh", "-c", script],
  ...more,
});

export const isReady = ({ status }: NodePod) =>
  status?.conditions?.find(({ type }) => type === "Ready")?.status === "True";

/** Asks until the answer is as expected. The error shows the last answer. */
export async function waitFor<T>(ask: () => Promise<T>, isExpected: (answer: T) => boolean): Promise<T> {
  const endMs = systemClock.now().monoMs + withinMs;
  for (;;) {
    const answer = await ask();
    if (isExpected(answer)) return answer;
    if (systemClock.now().monoMs > endMs)
      throw new Error(`not as expected: ${JSON.stringify(answer, null, 2)}`);
    await sleep(systemClock, 20);
  }
}

export async function startNodeRig(options: Partial<NodeOptions> = {}): Promise<NodeRig> {
  const sandbox = await startSandbox();
  const client = clientOf(sandbox);
  // A controller creates it in every namespace. Here is none.
  await client.request({
    method: "POST",
    path: "/api/v1/namespaces/default/configmaps",
    body: {
      apiVersion: "v1",
      kind: "ConfigMap",
      metadata: { name: "kube-root-ca.crt" },
      data: { "ca.crt": sandbox.caPem },
    },
  });
  const folder = mkdtempSync(join(tmpdir(), "tenure-node-"));
  const errors: unknown[] = [];
  const node = await startNode({
    client,
    name: "node-0",
    dataDirectory: folder,
    isolation: "none",
    onError: (error) => errors.push(error),
    ...options,
  });
  await node.ready;
  const read = (name: string) =>
    client.request<NodePod>({ method: "GET", path: `${podsPath}/${name}` }).catch((error: unknown) => {
      if ((error as { code?: unknown }).code === "NotFound") return undefined;
      throw error;
    });
  return {
    sandbox,
    client,
    node,
    folder,
    errors,
    create: (name, spec) =>
      client.request<NodePod>({
        method: "POST",
        path: podsPath,
        body: { apiVersion: "v1", kind: "Pod", metadata: { name }, spec: { nodeName: "node-0", ...spec } },
      }),
    pod: read,
    until: (name, expected) =>
      waitFor(
        () => read(name),
        (pod) => pod !== undefined && expected(pod),
      ) as Promise<NodePod>,
    async untilGone(name) {
      await waitFor(
        () => read(name),
        (pod) => pod === undefined,
      );
    },
    async remove(name, gracePeriodSeconds) {
      const body = { apiVersion: "v1", kind: "DeleteOptions", gracePeriodSeconds };
      await client.request({ method: "DELETE", path: `${podsPath}/${name}`, body });
    },
    async close() {
      await node.stop();
      client.close();
      await sandbox.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
