/**
 * Rolls out Deployments. Every write carries the version that the decision saw, so a stale copy leads to a conflict and another
 * look, never beyond the bounds of the strategy.
 */
import { messageOf } from "@tenure/base";
import { objectPath } from "../../client/api.ts";
import { keyOf, splitKey } from "../../client/informer.ts";
import type { Pod } from "../../client/objects.ts";
import { claimsOf, controllerOf, controllerReference, isControlledBy } from "../../client/owner.ts";
import { deployments, pods, replicaSets } from "../../client/resources.ts";
import { matchesSelector } from "../../client/selector.ts";
import { WorkQueue } from "../../client/work-queue.ts";
import type { Deployment, DeploymentStatus, ReplicaSet } from "../../client/workloads.ts";
import {
  createObject,
  deleteObject,
  hasCode,
  isNamespaceEnding,
  patchObject,
  replaceObject,
} from "../../client/writes.ts";
import { claimObjects } from "../claim.ts";
import type { Controller } from "../controller.ts";
import { canonicalText } from "../names.ts";
import { type DeploymentStep, decideDeployment } from "./decide.ts";
import { newSetFor } from "./new-set.ts";
import { revisionAnnotation } from "./revision.ts";
import { sizeOf } from "./sizes.ts";
import { deadlineInMs, hasDeadline, withCondition } from "./status.ts";
import { hasTemplateOf } from "./template.ts";

export const deploymentController: Controller = (context) => {
  const { client, platform, informers, onError } = context;
  const all = informers.of(deployments);
  const sets = informers.of(replicaSets);
  const allPods = informers.of(pods);
  const recorder = context.recorder("deployment-controller");
  const queue = new WorkQueue({ platform, onError, work: sync });

  all.onChange(({ previous, current }) => queue.add(keyOf(((current ?? previous) as Deployment).metadata)));
  sets.onChange(({ previous, current }) => {
    for (const set of [previous, current]) if (set) queueOwners(set);
  });
  allPods.onChange(({ previous, current }) => {
    // A Deployment with the strategy Recreate waits until the last old pod is gone.
    const set = current ? undefined : controllerOf(previous as Pod);
    const found = set && sets.get((previous as Pod).metadata.namespace, set.name);
    if (found) queueOwners(found);
  });

  function queueOwners(set: ReplicaSet): void {
    const { namespace, labels } = set.metadata;
    const owner = controllerOf(set);
    if (owner?.kind === deployments.kind) queue.add(keyOf({ namespace, name: owner.name }));
    if (owner) return;
    for (const { metadata, spec } of all.list(namespace)) {
      if (matchesSelector(spec.selector, labels)) queue.add(keyOf(metadata));
    }
  }

  async function sync(key: string): Promise<void> {
    const { namespace, name } = splitKey(key);
    const deployment = all.get(namespace, name);
    if (!deployment) return;
    const nowMs = platform.clock.now().wallMs;
    const controller = controllerReference(deployments, deployment);
    const claims = claimsOf(deployment, deployment.spec.selector, sets.list(namespace));
    const owned = await claimObjects({
      client,
      resource: replicaSets,
      owners: deployments,
      owner: deployment,
      controller,
      claims,
    });
    const podsOf = (set: ReplicaSet) => allPods.list(namespace).filter((pod) => isControlledBy(pod, set));
    const step = decideDeployment(deployment, owned, podsOf, nowMs);
    const annotated = await performOnSets(deployment, step);
    const status = step.create ? await createSet(annotated, step.create, step.status) : step.status;
    if (status && canonicalText(status) !== canonicalText(deployment.status ?? {})) {
      await writeStatus(annotated, status);
    }
    const waitMs = deadlineInMs(deployment, status ?? {}, nowMs);
    if (waitMs !== undefined) queue.addAfter(key, waitMs);
  }

  /** Returns the Deployment with its present version. */
  async function performOnSets(deployment: Deployment, step: DeploymentStep): Promise<Deployment> {
    for (const { before, after } of step.replace) {
      await replaceObject(client, replicaSets, after);
      recordScaling(deployment, after.metadata.name, sizeOf(before), sizeOf(after));
    }
    for (const set of step.delete) await deleteObject(client, replicaSets, set);
    return step.revision === undefined ? deployment : await annotate(deployment, step.revision);
  }

  async function createSet(
    deployment: Deployment,
    { size, revision }: { size: number; revision: bigint },
    status: DeploymentStatus,
  ): Promise<DeploymentStatus | undefined> {
    const body = newSetFor(deployment, size, revision);
    const { name } = body.metadata;
    const nowMs = platform.clock.now().wallMs;
    const progress = (value: "True" | "False", reason: string, message: string) =>
      hasDeadline(deployment)
        ? withCondition(status, { type: "Progressing", status: value, reason, message }, nowMs)
        : status;
    try {
      await createObject(client, replicaSets, deployment.metadata.namespace, body);
    } catch (error) {
      if (hasCode(error, "AlreadyExists")) return onNameTaken(deployment, name, status);
      if (isNamespaceEnding(error)) return undefined;
      const message = `Failed to create new replica set ${JSON.stringify(name)}: ${messageOf(error)}`;
      record(deployment, "Warning", "ReplicaSetCreateError", message);
      await writeStatus(deployment, progress("False", "ReplicaSetCreateError", message));
      throw error;
    }
    recordScaling(deployment, name, 0, size);
    return progress("True", "NewReplicaSetCreated", `Created new replica set ${JSON.stringify(name)}`);
  }

  /** Either the copy is behind and the ReplicaSet is ours, or two templates have the same hash. */
  async function onNameTaken(
    deployment: Deployment,
    name: string,
    status: DeploymentStatus,
  ): Promise<DeploymentStatus | undefined> {
    const { namespace } = deployment.metadata;
    const path = objectPath(replicaSets, { namespace, name });
    const taken = await client.request<ReplicaSet>({ method: "GET", path });
    if (isControlledBy(taken, deployment) && hasTemplateOf(taken, deployment)) return status;
    const collisionCount = (deployment.status?.collisionCount ?? 0) + 1;
    await writeStatus(deployment, { ...deployment.status, collisionCount });
    return undefined;
  }

  async function annotate(deployment: Deployment, revision: string): Promise<Deployment> {
    const { metadata } = deployment;
    const patch = { metadata: { uid: metadata.uid, annotations: { [revisionAnnotation]: revision } } };
    const { metadata: annotated } = await patchObject(client, deployments, metadata, patch, {
      type: "merge",
    });
    // Not the other fields: the decision did not see their changes, if there are any.
    const isUnchanged = annotated.generation === metadata.generation;
    return isUnchanged ? { ...deployment, metadata: annotated } : deployment;
  }

  /** It fails with a conflict if the copy is behind, so that an older status never replaces a newer one. */
  async function writeStatus({ metadata }: Deployment, status: DeploymentStatus): Promise<void> {
    const { uid, resourceVersion } = metadata;
    const patch = { metadata: { uid, resourceVersion }, status };
    await patchObject(client, deployments, metadata, patch, { subresource: "status", type: "merge" });
  }

  function recordScaling(deployment: Deployment, set: string, from: number, to: number): void {
    if (from === to) return;
    const message = `Scaled ${to > from ? "up" : "down"} replica set ${set} from ${from} to ${to}`;
    record(deployment, "Normal", "ScalingReplicaSet", message);
  }

  function record(target: Deployment, type: "Normal" | "Warning", reason: string, message: string): void {
    const { apiVersion, kind } = deployments;
    recorder.record({ ...target, apiVersion, kind }, { type, reason, message });
  }

  return queue;
};
