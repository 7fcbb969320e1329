/** Nodes that run nothing. They mark the pods that are assigned to them as running and ready, through the API. */
import type { KubeClient } from "@tenure/kube";
import { Informer, keyOf } from "../client/informer.ts";
import type { Pod } from "../client/objects.ts";
import { nodes, pods } from "../client/resources.ts";
import { formatTime } from "../client/time.ts";
import { createObject, deleteObject, hasCode, patchObject } from "../client/writes.ts";
import { systemPlatform } from "../platform.ts";

export interface FakeNodesOptions {
  client: KubeClient;
  names: readonly string[];
  signal: AbortSignal;
  /** Whether a pod becomes ready. @default every pod does */
  becomesReady?: (pod: Pod) => boolean;
}

/** Resolves when the nodes are registered. They act until the signal aborts. */
export async function startFakeNodes({
  client,
  names,
  signal,
  becomesReady = () => true,
}: FakeNodesOptions): Promise<void> {
  for (const name of names) await registerNode(client, name);
  const informer = new Informer<Pod>({ client, resource: pods, platform: systemPlatform });
  const handled = new Set<string>();
  informer.onChange(({ current }) => {
    if (!current || !names.includes(current.spec.nodeName ?? "")) return;
    const key = `${keyOf(current.metadata)} ${current.metadata.uid} ${current.metadata.deletionTimestamp ? "stop" : "start"}`;
    if (handled.has(key)) return;
    if (current.metadata.deletionTimestamp) {
      handled.add(key);
      void deleteObject(client, pods, current, { gracePeriodSeconds: 0 }).catch(() => handled.delete(key));
    } else if (becomesReady(current)) {
      handled.add(key);
      void start(client, current).catch(() => handled.delete(key));
    }
  });
  void informer.run(signal);
  await informer.synced;
}

async function registerNode(client: KubeClient, name: string): Promise<void> {
  const time = formatTime(systemPlatform.clock.now().wallMs);
  try {
    await createObject(client, nodes, undefined, {
      metadata: { name, labels: { "kubernetes.io/hostname": name } },
    });
  } catch (error) {
    if (!hasCode(error, "AlreadyExists")) throw error;
  }
  const ready = {
    type: "Ready",
    status: "True",
    reason: "KubeletReady",
    lastHeartbeatTime: time,
    lastTransitionTime: time,
  };
  const capacity = { cpu: "4", memory: "8Gi", pods: "110" };
  const status = { conditions: [ready], capacity, allocatable: capacity };
  await patchObject(client, nodes, { name }, { status }, { subresource: "status", type: "merge" });
}

async function start(client: KubeClient, pod: Pod): Promise<void> {
  const time = formatTime(systemPlatform.clock.now().wallMs);
  const condition = (type: string) => ({ type, status: "True", lastTransitionTime: time });
  const status = {
    phase: "Running",
    podIP: "10.0.0.1",
    podIPs: [{ ip: "10.0.0.1" }],
    startTime: time,
    conditions: ["Initialized", "Ready", "ContainersReady", "PodScheduled"].map(condition),
  };
  const patch = { metadata: { uid: pod.metadata.uid }, status };
  await patchObject(client, pods, pod.metadata, patch, { subresource: "status", type: "merge" });
}
