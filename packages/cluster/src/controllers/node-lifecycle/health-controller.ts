/**
 * Notices nodes that give no sign of life, taints them, and takes their pods out of Services. The times that a node writes are
 * not compared with the clock of this machine: only when a change of them was seen counts.
 */
import { keyOf } from "../../client/informer.ts";
import type { Node, Pod } from "../../client/objects.ts";
import { conditionOf, isReady } from "../../client/pods.ts";
import { leases, nodes, pods } from "../../client/resources.ts";
import { formatTime } from "../../client/time.ts";
import { WorkQueue } from "../../client/work-queue.ts";
import { hasCode, patchObject, replaceObject } from "../../client/writes.ts";
import type { Controller } from "../controller.ts";
import { isSameTaints, lifeSignOf, unknownConditions, wantedTaints } from "./health.ts";

/** How long a node may be silent. A node agent renews its Lease every 10 s. Kubernetes waits as long. */
export const defaultNodeGraceMs = 50_000;

export function nodeHealthController(graceMs: number): Controller {
  return (context) => {
    const { client, platform, informers, onError } = context;
    const all = informers.of(nodes);
    const signs = informers.of(leases, { namespace: "kube-node-lease" });
    const allPods = informers.of(pods);
    const recorder = context.recorder("node-controller");
    /** The last sign of life of each node, and when it was seen. */
    const seen = new Map<string, { sign: string; atMs: number }>();
    const queue = new WorkQueue({ platform, onError, work: sync });

    all.onChange(({ previous, current }) => queue.add(((current ?? previous) as Node).metadata.name));
    signs.onChange(({ previous, current }) => {
      const lease = current ?? previous;
      if (lease) queue.add(lease.metadata.name);
    });
    allPods.onChange(({ current }) => {
      // A node agent that is gone may leave a pod ready that it reported just before.
      if (current?.spec.nodeName && isReady(current)) queue.add(current.spec.nodeName);
    });

    async function sync(name: string): Promise<void> {
      const node = all.get(undefined, name);
      if (!node) {
        seen.delete(name);
        return;
      }
      const silentMs = observe(node);
      if (silentMs < graceMs) queue.addAfter(name, graceMs - silentMs);
      else if (await markUnknown(node)) return;
      await taint(node);
      if (conditionOf(node, "Ready")?.status !== "True") await markPodsNotReady(node);
    }

    /** Returns for how long the node has been silent. */
    function observe(node: Node): number {
      const { name } = node.metadata;
      const nowMs = platform.clock.now().monoMs;
      const sign = lifeSignOf(node, signs.get("kube-node-lease", name));
      const known = seen.get(name);
      if (known?.sign === sign) return nowMs - known.atMs;
      seen.set(name, { sign, atMs: nowMs });
      return 0;
    }

    /** Whether the node changed. Its change leads to another look. */
    async function markUnknown(node: Node): Promise<boolean> {
      const conditions = unknownConditions(node, platform.clock.now().wallMs);
      if (!conditions) return false;
      const { uid, resourceVersion } = node.metadata;
      const patch = { metadata: { uid, resourceVersion }, status: { conditions } };
      await patchObject(client, nodes, node.metadata, patch, { subresource: "status" });
      record(node, "NodeNotReady", `Node ${node.metadata.name} status is now: NodeNotReady`);
      return true;
    }

    async function taint(node: Node): Promise<void> {
      const isAnyAlive = all.list().some((other) => conditionOf(other, "Ready")?.status === "True");
      const taints = wantedTaints(node, isAnyAlive, platform.clock.now().wallMs);
      if (isSameTaints(node.spec?.taints, taints)) return;
      await replaceObject(client, nodes, { ...node, spec: { ...node.spec, taints } });
    }

    async function markPodsNotReady(node: Node): Promise<void> {
      const affected = allPods
        .list()
        .filter((pod) => pod.spec.nodeName === node.metadata.name && isReady(pod));
      for (const pod of affected) {
        const lastTransitionTime = formatTime(platform.clock.now().wallMs);
        const condition = { type: "Ready", status: "False", lastTransitionTime };
        const patch = { metadata: { uid: pod.metadata.uid }, status: { conditions: [condition] } };
        try {
          await patchObject(client, pods, pod.metadata, patch, { subresource: "status" });
          recordPod(pod);
        } catch (error) {
          if (!hasCode(error, "NotFound", "Conflict")) throw error;
        }
      }
    }

    function record(node: Node, reason: string, message: string): void {
      const { apiVersion, kind } = nodes;
      recorder.record({ ...node, apiVersion, kind }, { type: "Normal", reason, message });
    }

    function recordPod(pod: Pod): void {
      const { apiVersion, kind } = pods;
      const message = `Node is not ready: ${keyOf(pod.metadata)}`;
      recorder.record({ ...pod, apiVersion, kind }, { type: "Warning", reason: "NodeNotReady", message });
    }

    return queue;
  };
}
