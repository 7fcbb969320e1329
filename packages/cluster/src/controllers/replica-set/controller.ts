/**
 * Keeps as many pods as each ReplicaSet wants. A stale copy of the pods never leads to a pod too many: nothing is decided while
 * a write is not visible, and a create whose answer was lost is repeated with the same name.
 */
import { messageOf } from "@tenure/base";
import { keyOf, splitKey } from "../../client/informer.ts";
import type { Pod } from "../../client/objects.ts";
import { claimsOf, controllerOf, controllerReference } from "../../client/owner.ts";
import { availableInMs, isActive, isReady } from "../../client/pods.ts";
import { pods, replicaSets } from "../../client/resources.ts";
import { matchesSelector } from "../../client/selector.ts";
import { WorkQueue } from "../../client/work-queue.ts";
import type { ReplicaSet } from "../../client/workloads.ts";
import { replaceObject } from "../../client/writes.ts";
import { claimObjects } from "../claim.ts";
import type { Controller } from "../controller.ts";
import { canonicalText } from "../names.ts";
import { PodWriter, type WriteFailure } from "../pod-writer.ts";
import { decidePods, statusOf } from "./decide.ts";

export const replicaSetController: Controller = (context) => {
  const { client, platform, informers, onError } = context;
  const sets = informers.of(replicaSets);
  const allPods = informers.of(pods);
  const recorder = context.recorder("replicaset-controller");
  const writer = new PodWriter({ client, platform, recorder, owners: replicaSets, pods: allPods });
  const queue = new WorkQueue({ platform, onError, work: sync });

  sets.onChange(({ previous, current }) => queue.add(keyOf((current ?? (previous as ReplicaSet)).metadata)));
  allPods.onChange(({ previous, current }) => {
    const pod = (current ?? previous) as Pod;
    for (const owner of [previous, current].map((object) => object && controllerOf(object))) {
      if (owner?.kind !== replicaSets.kind) continue;
      const key = keyOf({ namespace: pod.metadata.namespace, name: owner.name });
      writer.observe(key, pod, current === undefined);
      queue.add(key);
    }
    if (!current || controllerOf(current)) return;
    // An orphan. Whoever selects it may adopt it.
    for (const { metadata, spec } of sets.list(pod.metadata.namespace)) {
      if (matchesSelector(spec.selector, pod.metadata.labels)) queue.add(keyOf(metadata));
    }
  });

  async function sync(key: string): Promise<void> {
    const { namespace, name } = splitKey(key);
    const set = sets.get(namespace, name);
    if (!set) {
      writer.forget(key);
      return;
    }
    const nowMs = platform.clock.now().wallMs;
    const controller = controllerReference(replicaSets, set);
    await writer.repeatUnknown(key, set);
    const isSettled = writer.isSettled(key);
    const claims = claimsOf(set, set.spec.selector, allPods.list(namespace).filter(isActive));
    const owned = await claimObjects({
      client,
      resource: pods,
      owners: replicaSets,
      owner: set,
      controller,
      claims,
    });
    let failure: WriteFailure | undefined;
    if (isSettled && !set.metadata.deletionTimestamp) {
      const source = { owner: set, controller, template: set.spec.template };
      const changes = decidePods(set, owned, relatedPods(set, owned), nowMs);
      failure =
        (await writer.create(key, Array(changes.create).fill(source))) ??
        (await writer.delete(key, changes.delete, set));
    }
    await updateStatus(set, owned, failure);
    requeueUntilAvailable(key, set, owned, nowMs);
    if (failure) throw failure.error;
  }

  /** The active pods of all ReplicaSets of the same Deployment. They decide which pods remain evenly spread. */
  function relatedPods(set: ReplicaSet, owned: readonly Pod[]): readonly Pod[] {
    const deployment = controllerOf(set);
    if (!deployment) return owned;
    const siblings = new Set(
      sets
        .list(set.metadata.namespace)
        .filter((other) => controllerOf(other)?.uid === deployment.uid)
        .map(({ metadata }) => metadata.uid),
    );
    return allPods
      .list(set.metadata.namespace)
      .filter((pod) => isActive(pod) && siblings.has(controllerOf(pod)?.uid ?? ""));
  }

  async function updateStatus(
    set: ReplicaSet,
    owned: readonly Pod[],
    failure: WriteFailure | undefined,
  ): Promise<void> {
    const problem = failure && { reason: failure.reason, message: messageOf(failure.error) };
    const status = statusOf(set, owned, problem, platform.clock.now().wallMs);
    if (canonicalText({ ...set.status }) === canonicalText(status)) return;
    await replaceObject(client, replicaSets, { ...set, status }, "status");
  }

  /** A ready pod becomes available without an event. */
  function requeueUntilAvailable(key: string, set: ReplicaSet, owned: readonly Pod[], nowMs: number): void {
    const waits = owned
      .filter(isReady)
      .map((pod) => availableInMs(pod, set.spec.minReadySeconds ?? 0, nowMs) ?? 0)
      .filter((ms) => ms > 0);
    if (waits.length > 0) queue.addAfter(key, Math.min(...waits));
  }

  return queue;
};
