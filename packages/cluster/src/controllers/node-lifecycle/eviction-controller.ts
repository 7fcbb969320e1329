/** Deletes pods that do not tolerate a taint of their node, and pods whose node no longer exists. */
import { objectPath } from "../../client/api.ts";
import { keyOf, splitKey } from "../../client/informer.ts";
import type { Node, Pod } from "../../client/objects.ts";
import { isTerminating } from "../../client/pods.ts";
import { nodes, pods } from "../../client/resources.ts";
import { formatTime } from "../../client/time.ts";
import { WorkQueue } from "../../client/work-queue.ts";
import { deleteObject, hasCode, patchObject } from "../../client/writes.ts";
import type { Controller } from "../controller.ts";
import { evictedInMs } from "./eviction.ts";

/** A node that was just deleted may be registered again. */
const missingNodeMs = 40_000;

export const evictionController: Controller = (context) => {
  const { client, platform, informers, onError } = context;
  const all = informers.of(nodes);
  const allPods = informers.of(pods);
  const recorder = context.recorder("taint-eviction-controller");
  /** When each missing node was first missed. */
  const missing = new Map<string, number>();
  const queue = new WorkQueue({ platform, onError, work: sync });

  allPods.onChange(({ current }) => {
    if (current?.spec.nodeName) queue.add(keyOf(current.metadata));
  });
  all.onChange(({ previous, current }) => {
    const { name } = ((current ?? previous) as Node).metadata;
    if (current) missing.delete(name);
    if (previous && current && JSON.stringify(previous.spec) === JSON.stringify(current.spec)) return;
    for (const pod of allPods.list()) if (pod.spec.nodeName === name) queue.add(keyOf(pod.metadata));
  });

  async function sync(key: string): Promise<void> {
    const { namespace, name } = splitKey(key);
    const pod = allPods.get(namespace, name);
    if (!pod?.spec.nodeName) return;
    const node = all.get(undefined, pod.spec.nodeName);
    if (!node) return await onMissingNode(key, pod, pod.spec.nodeName);
    if (isTerminating(pod)) return;
    const inMs = evictedInMs(pod, node.spec?.taints ?? [], platform.clock.now().wallMs);
    if (inMs === undefined) return;
    if (inMs > 0) queue.addAfter(key, inMs);
    else await evict(pod);
  }

  async function evict(pod: Pod): Promise<void> {
    const message = `Marking for deletion Pod ${keyOf(pod.metadata)}`;
    await markDisrupted(pod, "DeletionByTaintManager", "Taint manager: deleting due to NoExecute taint");
    await deleteObject(client, pods, pod);
    const { apiVersion, kind } = pods;
    recorder.record(
      { ...pod, apiVersion, kind },
      { type: "Normal", reason: "TaintManagerEviction", message },
    );
  }

  /** Nobody stops the pod any more, so it is removed at once: but only if the API server confirms that the node is gone. */
  async function onMissingNode(key: string, pod: Pod, node: string): Promise<void> {
    const nowMs = platform.clock.now().monoMs;
    const sinceMs = missing.get(node) ?? nowMs;
    missing.set(node, sinceMs);
    if (nowMs - sinceMs < missingNodeMs) return queue.addAfter(key, sinceMs + missingNodeMs - nowMs);
    try {
      await client.request({ method: "GET", path: objectPath(nodes, { name: node }) });
      return queue.addAfter(key, missingNodeMs);
    } catch (error) {
      if (!hasCode(error, "NotFound")) throw error;
    }
    await markDisrupted(pod, "DeletionByPodGC", "PodGC: node no longer exists");
    await deleteObject(client, pods, pod, { gracePeriodSeconds: 0 });
  }

  async function markDisrupted(pod: Pod, reason: string, message: string): Promise<void> {
    const lastTransitionTime = formatTime(platform.clock.now().wallMs);
    const condition = { type: "DisruptionTarget", status: "True", reason, message, lastTransitionTime };
    const patch = { metadata: { uid: pod.metadata.uid }, status: { conditions: [condition] } };
    try {
      await patchObject(client, pods, pod.metadata, patch, { subresource: "status" });
    } catch (error) {
      if (!hasCode(error, "NotFound", "Conflict")) throw error;
    }
  }

  return queue;
};
