/** Nodes that run nothing. They mark the pods that are assigned to them as running and ready, through the API. */
import { sleep } from "@tenure/base";
import type { KubeClient } from "@tenure/kube";
import { Informer, keyOf } from "../client/informer.ts";
import type { Pod } from "../client/objects.ts";
import { leases, nodes, pods } from "../client/resources.ts";
import { formatTime } from "../client/time.ts";
import { createObject, deleteObject, hasCode, patchObject } from "../client/writes.ts";
import { systemPlatform } from "../platform.ts";

/** Often enough for a controller that waits for seconds only. */
const renewMs = 500;

export interface FakeNodesOptions {
  client: KubeClient;
  names: readonly string[];
  signal: AbortSignal;
  /** Whether a pod becomes ready. @default every pod does */
  becomesReady?: (pod: Pod) => boolean;
}

export interface FakeNodes {
  /** Looks again at the pods that did not become ready so far. */
  recheck(): void;
}

/** Resolves when the nodes are registered. They act, and give signs of life, until the signal aborts. */
export async function startFakeNodes({
  client,
  names,
  signal,
  becomesReady = () => true,
}: FakeNodesOptions): Promise<FakeNodes> {
  for (const name of names) await registerNode(client, name);
  const informer = new Informer<Pod>({ client, resource: pods, platform: systemPlatform });
  const handled = new Set<string>();
  const consider = (current: Pod | undefined) => {
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
  };
  informer.onChange(({ current }) => consider(current));
  void informer.run(signal);
  for (const name of names) void renewLease(client, name, signal);
  await informer.synced;
  return {
    recheck() {
      for (const pod of informer.list()) consider(pod);
    },
  };
}

/** A node agent renews its Lease. Controllers take a node without it for dead. */
async function renewLease(client: KubeClient, name: string, signal: AbortSignal): Promise<void> {
  const namespace = "kube-node-lease";
  while (!signal.aborted) {
    const renewTime = new Date(systemPlatform.clock.now().wallMs).toISOString().replace("Z", "000Z");
    const spec = { holderIdentity: name, leaseDurationSeconds: 40, renewTime };
    try {
      await patchObject(client, leases, { namespace, name }, { spec }, { type: "merge" });
    } catch {
      await createObject(client, leases, namespace, { metadata: { name }, spec }).catch(() => undefined);
    }
    await sleep(systemPlatform.clock, renewMs, signal);
  }
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

/** Every pod gets an address of its own. */
let addresses = 0;

async function start(client: KubeClient, pod: Pod): Promise<void> {
  const time = formatTime(systemPlatform.clock.now().wallMs);
  const condition = (type: string) => ({ type, status: "True", lastTransitionTime: time });
  const podIP = `10.0.${Math.floor(addresses / 250)}.${(addresses++ % 250) + 1}`;
  const status = {
    phase: "Running",
    podIP,
    podIPs: [{ ip: podIP }],
    startTime: time,
    conditions: ["Initialized", "Ready", "ContainersReady", "PodScheduled"].map(condition),
  };
  const patch = { metadata: { uid: pod.metadata.uid }, status };
  await patchObject(client, pods, pod.metadata, patch, { subresource: "status", type: "merge" });
}
