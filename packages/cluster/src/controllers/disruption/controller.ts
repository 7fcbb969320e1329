/** Counts the pods of every PodDisruptionBudget. The API allows evictions by these counts. */
import { keyOf, splitKey } from "../../client/informer.ts";
import type { Pod } from "../../client/objects.ts";
import { controllerOf } from "../../client/owner.ts";
import {
  deployments,
  podDisruptionBudgets,
  pods,
  replicaSets,
  statefulSets,
} from "../../client/resources.ts";
import { matchesSelector } from "../../client/selector.ts";
import { WorkQueue } from "../../client/work-queue.ts";
import type { PodDisruptionBudget } from "../../client/workloads.ts";
import { replaceObject } from "../../client/writes.ts";
import type { Controller } from "../controller.ts";
import { canonicalText } from "../names.ts";
import { decideBudget, type Scale } from "./budget.ts";

export const disruptionController: Controller = ({ client, platform, informers, onError }) => {
  const budgets = informers.of(podDisruptionBudgets);
  const allPods = informers.of(pods);
  const owners = {
    ReplicaSet: informers.of(replicaSets),
    StatefulSet: informers.of(statefulSets),
    Deployment: informers.of(deployments),
  };
  const queue = new WorkQueue({ platform, onError, work: sync });

  budgets.onChange(({ previous, current }) =>
    queue.add(keyOf(((current ?? previous) as PodDisruptionBudget).metadata)),
  );
  allPods.onChange(({ previous, current }) => {
    for (const pod of [previous, current]) if (pod) addBudgetsOf(pod);
  });
  // A percentage refers to the size of the pods' owner.
  for (const informer of Object.values(owners)) {
    informer.onChange(({ previous, current }) => {
      const { namespace } = ((current ?? previous) as { metadata: { namespace?: string } }).metadata;
      for (const { metadata } of budgets.list(namespace ?? "")) queue.add(keyOf(metadata));
    });
  }

  function addBudgetsOf({ metadata }: Pod): void {
    for (const budget of budgets.list(metadata.namespace ?? "")) {
      if (matchesSelector(budget.spec.selector, metadata.labels)) queue.add(keyOf(budget.metadata));
    }
  }

  /** A ReplicaSet may be a part of a Deployment, whose rollout divides its pods between several. */
  function scaleOf(pod: Pod): Scale | undefined {
    const { namespace } = pod.metadata;
    const owner = controllerOf(pod);
    if (owner?.kind === "StatefulSet") return scale(owners.StatefulSet.get(namespace, owner.name));
    if (owner?.kind !== "ReplicaSet") return undefined;
    const set = owners.ReplicaSet.get(namespace, owner.name);
    const above = set && controllerOf(set);
    return scale(above?.kind === "Deployment" ? owners.Deployment.get(namespace, above.name) : set);
  }

  async function sync(key: string): Promise<void> {
    const { namespace, name } = splitKey(key);
    const budget = budgets.get(namespace, name);
    if (!budget) return;
    const { selector } = budget.spec;
    const selected = allPods
      .list(namespace)
      .filter(({ metadata }) => matchesSelector(selector, metadata.labels));
    const { status, recheckInMs } = decideBudget(budget, selected, scaleOf, platform.clock.now().wallMs);
    // The version of the copy goes with it: an eviction that the API has allowed meanwhile is never forgotten.
    if (canonicalText({ ...budget.status }) !== canonicalText(status))
      await replaceObject(client, podDisruptionBudgets, { ...budget, status }, "status");
    if (recheckInMs !== undefined) queue.addAfter(key, recheckInMs);
  }

  return queue;
};

function scale(
  owner: { metadata: { uid: string }; spec: { replicas?: number } } | undefined,
): Scale | undefined {
  return owner && { uid: owner.metadata.uid, replicas: owner.spec.replicas ?? 1 };
}
