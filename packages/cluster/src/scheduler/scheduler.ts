/**
 * Assigns pods to nodes, one after the other. A pod that fits nowhere waits until something changes that may help it. The API
 * server binds a pod only once, so two schedulers at the same time cannot assign a pod twice.
 */
import { messageOf } from "@tenure/base";
import { objectPath } from "../client/api.ts";
import { keyOf, splitKey } from "../client/informer.ts";
import type { Node, Pod } from "../client/objects.ts";
import { conditionOf, isFinished, isTerminating } from "../client/pods.ts";
import { namespaces, nodes, pods } from "../client/resources.ts";
import { formatTime } from "../client/time.ts";
import { WorkQueue } from "../client/work-queue.ts";
import { hasCode, mayHaveHappened, patchObject } from "../client/writes.ts";
import type { Controller } from "../controllers/controller.ts";
import { canonicalText } from "../controllers/names.ts";
import { decideNode } from "./decide.ts";
import { takeSnapshot } from "./snapshot.ts";
import { WaitingPods } from "./waiting-pods.ts";

const schedulerName = "default-scheduler";

export const scheduler: Controller = (context) => {
  const { client, platform, informers, onError } = context;
  const allPods = informers.of(pods);
  const allNodes = informers.of(nodes);
  const allNamespaces = informers.of(namespaces);
  const recorder = context.recorder(schedulerName);
  /** The nodes of pods whose binding the informer does not show yet, by uid. */
  const assumed = new Map<string, string>();
  const waiting = new WaitingPods();
  // One worker: each decision sees the ones before it.
  const queue = new WorkQueue({ platform, onError, work: schedule, workers: 1 });

  allPods.onChange(({ previous, current }) => {
    const pod = (current ?? previous) as Pod;
    if (!current || current.spec.nodeName) {
      assumed.delete(pod.metadata.uid);
      waiting.remove(keyOf(pod.metadata));
    }
    if (current && isPending(current)) {
      if (!previous || isChanged(previous, current)) queue.add(keyOf(pod.metadata));
    } else if (!previous || !current || affectsOthers(previous, current)) retryWaiting();
  });
  allNodes.onChange(({ previous, current }) => {
    if (!previous || !current || relevantPart(previous) !== relevantPart(current)) retryWaiting();
  });

  function retryWaiting(): void {
    for (const { key, inMs } of waiting.due(platform.clock.now().monoMs)) queue.addAfter(key, inMs);
  }

  async function schedule(key: string): Promise<void> {
    const { namespace, name } = splitKey(key);
    const pod = allPods.get(namespace, name);
    if (!pod || !isPending(pod)) return;
    const labels = new Map(
      allNamespaces.list().map(({ metadata }) => [metadata.name, metadata.labels ?? {}]),
    );
    // An earlier binding of this pod whose answer was lost does not count: it either fails now, or this one does.
    assumed.delete(pod.metadata.uid);
    const snapshot = takeSnapshot(allNodes.list(), allPods.list(), labels, assumed);
    const decision = decideNode(pod, snapshot, platform.random());
    if ("node" in decision) await bind(pod, decision.node);
    else await refuse(key, pod, decision.message);
  }

  async function bind(pod: Pod, node: string): Promise<void> {
    const { uid, name, namespace } = pod.metadata;
    assumed.set(uid, node);
    const binding = {
      apiVersion: "v1",
      kind: "Binding",
      metadata: { name, namespace, uid },
      target: { apiVersion: "v1", kind: "Node", name: node },
    };
    try {
      await client.request({
        method: "POST",
        path: objectPath(pods, pod.metadata, "binding"),
        body: binding,
      });
    } catch (error) {
      if (!mayHaveHappened(error)) assumed.delete(uid);
      // The pod is gone, or another scheduler was faster. The informer will show it.
      if (hasCode(error, "NotFound", "Conflict")) return;
      record(pod, "Warning", "FailedScheduling", `binding rejected: ${messageOf(error)}`);
      throw error;
    }
    record(pod, "Normal", "Scheduled", `Successfully assigned ${keyOf(pod.metadata)} to ${node}`);
  }

  async function refuse(key: string, pod: Pod, message: string): Promise<void> {
    queue.addAfter(key, waiting.add(key, platform.clock.now().monoMs));
    record(pod, "Warning", "FailedScheduling", message);
    const current = conditionOf(pod, "PodScheduled");
    if (current?.status === "False" && current.message === message) return;
    const lastTransitionTime =
      (current?.status === "False" ? current.lastTransitionTime : undefined) ??
      formatTime(platform.clock.now().wallMs);
    const condition = {
      type: "PodScheduled",
      status: "False",
      reason: "Unschedulable",
      message,
      lastTransitionTime,
    };
    const patch = { metadata: { uid: pod.metadata.uid }, status: { conditions: [condition] } };
    try {
      await patchObject(client, pods, pod.metadata, patch, { subresource: "status" });
    } catch (error) {
      if (!hasCode(error, "NotFound", "Conflict")) throw error;
    }
  }

  function record(pod: Pod, type: "Normal" | "Warning", reason: string, message: string): void {
    recorder.record({ ...pod, apiVersion: pods.apiVersion, kind: pods.kind }, { type, reason, message });
  }

  return queue;
};

/** Whether this scheduler has to find a node for the pod. */
function isPending(pod: Pod): boolean {
  const { spec } = pod;
  return (
    !spec.nodeName &&
    (spec.schedulerName ?? schedulerName) === schedulerName &&
    !spec.schedulingGates?.length &&
    !isTerminating(pod) &&
    !isFinished(pod)
  );
}

/** The status changes with every refusal, and that must not cause another attempt. */
function isChanged(previous: Pod, current: Pod): boolean {
  return (
    canonicalText(previous.spec) !== canonicalText(current.spec) ||
    canonicalText(previous.metadata.labels) !== canonicalText(current.metadata.labels)
  );
}

/** A pod that finished makes room, and one that arrived may be what others want to be near to. */
function affectsOthers(previous: Pod, current: Pod): boolean {
  return isFinished(current) !== isFinished(previous) || isChanged(previous, current);
}

/** Without the heartbeats. */
function relevantPart({ metadata, spec, status }: Node): string {
  return canonicalText({ labels: metadata.labels, spec, allocatable: status?.allocatable });
}
