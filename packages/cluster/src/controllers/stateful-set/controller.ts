/**
 * Keeps the pods of StatefulSets: with names that stay, one after the other. Two pods of one name never exist, because the API
 * server allows only one. Volume claims are created, but nothing provides volumes for them.
 */
import { messageOf } from "@tenure/base";
import { keyOf, splitKey } from "../../client/informer.ts";
import type { Pod } from "../../client/objects.ts";
import { claimsOf, controllerOf, controllerReference, isControlledBy } from "../../client/owner.ts";
import { controllerRevisions, pods, statefulSets, volumeClaims } from "../../client/resources.ts";
import { matchesSelector } from "../../client/selector.ts";
import { WorkQueue } from "../../client/work-queue.ts";
import type { StatefulSet } from "../../client/workloads.ts";
import {
  createObject,
  deleteObject,
  hasCode,
  isNamespaceEnding,
  replaceObject,
} from "../../client/writes.ts";
import { claimObjects } from "../claim.ts";
import type { Controller } from "../controller.ts";
import { canonicalText } from "../names.ts";
import { createRevision, expiredRevisions, templateOf, updateRevision } from "../revisions.ts";
import { decideStatefulSet, statusOf } from "./decide.ts";
import { claimsFor, ordinalOf, podFor, podName, revisionLabel } from "./identity.ts";

export const statefulSetController: Controller = (context) => {
  const { client, platform, informers, onError } = context;
  const sets = informers.of(statefulSets);
  const allPods = informers.of(pods);
  const revisions = informers.of(controllerRevisions);
  const recorder = context.recorder("statefulset-controller");
  const queue = new WorkQueue({ platform, onError, work: sync });

  sets.onChange(({ previous, current }) => queue.add(keyOf(((current ?? previous) as StatefulSet).metadata)));
  allPods.onChange(({ previous, current }) => {
    const pod = (current ?? previous) as Pod;
    const owner = controllerOf(pod) ?? (previous && controllerOf(previous));
    if (owner?.kind === statefulSets.kind)
      queue.add(keyOf({ namespace: pod.metadata.namespace, name: owner.name }));
    if (owner) return;
    for (const { metadata, spec } of sets.list(pod.metadata.namespace)) {
      if (matchesSelector(spec.selector, pod.metadata.labels)) queue.add(keyOf(metadata));
    }
  });

  async function sync(key: string): Promise<void> {
    const { namespace, name } = splitKey(key);
    const set = sets.get(namespace, name);
    if (!set) return;
    const nowMs = platform.clock.now().wallMs;
    const own = allPods.list(namespace).filter((pod) => ordinalOf(set, pod) !== undefined);
    const owned = await claimObjects({
      client,
      resource: pods,
      owners: statefulSets,
      owner: set,
      controller: controllerReference(statefulSets, set),
      claims: claimsOf(set, set.spec.selector, own),
    });
    const history = revisions.list(namespace).filter((revision) => isControlledBy(revision, set));
    const change = updateRevision(statefulSets, set, history);
    if (change.replace) await replaceObject(client, controllerRevisions, change.replace);
    if (change.create && !(await createRevision(client, statefulSets, set, change))) return;
    const names = { current: set.status?.currentRevision || change.name, update: change.name };
    const step = decideStatefulSet(set, owned, names, nowMs);
    await updateStatus(set, statusOf(set, owned, names, nowMs));
    for (const { ordinal, revision } of step.create) {
      await createPod(set, ordinal, podFor(set, ordinal, templateOf(set, history, revision), revision));
    }
    for (const pod of step.delete) {
      await deleteObject(client, pods, pod);
      record(set, "SuccessfulDelete", `delete Pod ${pod.metadata.name} in StatefulSet ${name} successful`);
    }
    const { currentRevision, updateRevision: update } = set.status ?? {};
    const live = new Set([
      currentRevision,
      update,
      ...owned.map(({ metadata }) => metadata.labels?.[revisionLabel]),
    ]);
    for (const revision of expiredRevisions(set, history, ({ metadata }) => live.has(metadata.name)))
      await deleteObject(client, controllerRevisions, revision);
    if (step.againInMs !== undefined) queue.addAfter(key, step.againInMs);
  }

  async function createPod(set: StatefulSet, ordinal: number, body: object): Promise<void> {
    const name = podName(set, ordinal);
    try {
      for (const claim of claimsFor(set, ordinal)) await createClaim(set, claim);
      await createObject(client, pods, set.metadata.namespace, body);
    } catch (error) {
      // It exists, and the copy is behind. Its event leads to another look.
      if (hasCode(error, "AlreadyExists") || isNamespaceEnding(error)) return;
      const message = `create Pod ${name} in StatefulSet ${set.metadata.name} failed error: ${messageOf(error)}`;
      record(set, "FailedCreate", message, "Warning");
      throw error;
    }
    record(set, "SuccessfulCreate", `create Pod ${name} in StatefulSet ${set.metadata.name} successful`);
  }

  async function createClaim(set: StatefulSet, claim: object): Promise<void> {
    try {
      await createObject(client, volumeClaims, set.metadata.namespace, claim);
    } catch (error) {
      if (!hasCode(error, "AlreadyExists")) throw error;
    }
  }

  async function updateStatus(set: StatefulSet, status: StatefulSet["status"]): Promise<void> {
    if (!status || canonicalText(withoutZeros(set.status)) === canonicalText(withoutZeros(status))) return;
    await replaceObject(client, statefulSets, { ...set, status }, "status");
  }

  function record(
    set: StatefulSet,
    reason: string,
    message: string,
    type: "Normal" | "Warning" = "Normal",
  ): void {
    const { apiVersion, kind } = statefulSets;
    recorder.record({ ...set, apiVersion, kind }, { type, reason, message });
  }

  return queue;
};

/** The API server may leave out zeros. */
function withoutZeros(status: object = {}): object {
  return Object.fromEntries(Object.entries(status).filter(([, value]) => value !== 0));
}
