/** Keeps one pod of each DaemonSet on every node that suits it. */
import { keyOf, splitKey } from "../../client/informer.ts";
import type { Pod } from "../../client/objects.ts";
import { claimsOf, controllerOf, controllerReference, isControlledBy } from "../../client/owner.ts";
import { controllerRevisions, daemonSets, nodes, pods } from "../../client/resources.ts";
import { matchesSelector } from "../../client/selector.ts";
import { WorkQueue } from "../../client/work-queue.ts";
import type { DaemonSet, DaemonSetStatus } from "../../client/workloads.ts";
import { deleteObject, replaceObject } from "../../client/writes.ts";
import { claimObjects } from "../claim.ts";
import type { Controller } from "../controller.ts";
import { canonicalText } from "../names.ts";
import { PodWriter } from "../pod-writer.ts";
import { createRevision, expiredRevisions, updateRevision } from "../revisions.ts";
import { decideDaemonSet, revisionLabel } from "./decide.ts";
import { templateFor } from "./eligible.ts";

export const daemonSetController: Controller = (context) => {
  const { client, platform, informers, onError } = context;
  const sets = informers.of(daemonSets);
  const allPods = informers.of(pods);
  const allNodes = informers.of(nodes);
  const revisions = informers.of(controllerRevisions);
  const recorder = context.recorder("daemonset-controller");
  const writer = new PodWriter({ client, platform, recorder, owners: daemonSets, pods: allPods });
  const queue = new WorkQueue({ platform, onError, work: sync });

  sets.onChange(({ previous, current }) => queue.add(keyOf(((current ?? previous) as DaemonSet).metadata)));
  allPods.onChange(({ previous, current }) => {
    const pod = (current ?? previous) as Pod;
    for (const owner of [previous, current].map((object) => object && controllerOf(object))) {
      if (owner?.kind !== daemonSets.kind) continue;
      const key = keyOf({ namespace: pod.metadata.namespace, name: owner.name });
      writer.observe(key, pod, current === undefined);
      queue.add(key);
    }
    if (!current || controllerOf(current)) return;
    for (const { metadata, spec } of sets.list(pod.metadata.namespace)) {
      if (matchesSelector(spec.selector, pod.metadata.labels)) queue.add(keyOf(metadata));
    }
  });
  allNodes.onChange(({ previous, current }) => {
    // The status of a node changes often. It does not matter here.
    const facts = (node: typeof current) => node && [node.metadata.labels, node.spec];
    if (canonicalText(facts(previous)) === canonicalText(facts(current))) return;
    for (const { metadata } of sets.list()) queue.add(keyOf(metadata));
  });

  async function sync(key: string): Promise<void> {
    const { namespace, name } = splitKey(key);
    const set = sets.get(namespace, name);
    if (!set) {
      writer.forget(key);
      return;
    }
    await writer.repeatUnknown(key, set);
    const isSettled = writer.isSettled(key);
    const controller = controllerReference(daemonSets, set);
    const owned = await claimObjects({
      client,
      resource: pods,
      owners: daemonSets,
      owner: set,
      controller,
      claims: claimsOf(set, set.spec.selector, allPods.list(namespace)),
    });
    if (set.metadata.deletionTimestamp) return;
    const history = revisions.list(namespace).filter((revision) => isControlledBy(revision, set));
    const change = updateRevision(daemonSets, set, history);
    if (change.replace) await replaceObject(client, controllerRevisions, change.replace);
    if (change.create && !(await createRevision(client, daemonSets, set, change))) return;
    const nowMs = platform.clock.now().wallMs;
    const step = decideDaemonSet(set, owned, allNodes.list(), change.hash, nowMs);
    await updateStatus(set, step.status);
    if (isSettled) {
      const sources = step.create.map((node) => {
        const template = templateFor(set, node);
        const labels = { ...template.metadata?.labels, [revisionLabel]: change.hash };
        return {
          owner: set,
          controller,
          template: { ...template, metadata: { ...template.metadata, labels } },
        };
      });
      const failure = (await writer.create(key, sources)) ?? (await writer.delete(key, step.delete, set));
      if (failure) throw failure.error;
    }
    const live = new Set([change.hash, ...owned.map(({ metadata }) => metadata.labels?.[revisionLabel])]);
    const isLive = ({ metadata }: (typeof history)[number]) => live.has(metadata.labels?.[revisionLabel]);
    for (const revision of expiredRevisions(set, history, isLive))
      await deleteObject(client, controllerRevisions, revision);
    if (step.againInMs !== undefined) queue.addAfter(key, step.againInMs);
  }

  async function updateStatus(set: DaemonSet, status: DaemonSetStatus): Promise<void> {
    if (canonicalText(withoutZeros(set.status)) === canonicalText(withoutZeros(status))) return;
    await replaceObject(client, daemonSets, { ...set, status }, "status");
  }

  return queue;
};

/** The API server may leave out zeros. */
function withoutZeros(status: object = {}): object {
  return Object.fromEntries(Object.entries(status).filter(([, value]) => value !== 0));
}
