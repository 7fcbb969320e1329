/** One step of a StatefulSet: observed objects in, writes out. */
import type { Pod } from "../../client/objects.ts";
import { availableInMs, isAvailable, isFinished, isReady, isTerminating } from "../../client/pods.ts";
import type { StatefulSet, StatefulSetStatus } from "../../client/workloads.ts";
import { ordinalOf, revisionOfPod } from "./identity.ts";

export interface Revisions {
  /** The revision that all pods had when the last update was complete. */
  readonly current: string;
  /** The revision of the present template. */
  readonly update: string;
}

export interface StatefulSetStep {
  readonly create: readonly { readonly ordinal: number; readonly revision: string }[];
  readonly delete: readonly Pod[];
  /** When to look again, because a ready pod becomes available without an event. */
  readonly againInMs?: number;
}

/** @param pods the pods of the set */
export function decideStatefulSet(
  set: StatefulSet,
  pods: readonly Pod[],
  revisions: Revisions,
  nowMs: number,
): StatefulSetStep {
  const nothing = { create: [], delete: [] };
  if (set.metadata.deletionTimestamp) return nothing;
  const { replicas = 1, minReadySeconds = 0, podManagementPolicy, ordinals } = set.spec;
  const first = ordinals?.start ?? 0;
  const isOrdered = podManagementPolicy !== "Parallel";
  const byOrdinal = new Map(pods.map((pod) => [ordinalOf(set, pod), pod]));
  const step = { create: [] as { ordinal: number; revision: string }[], delete: [] as Pod[] };
  const isHealthy = (pod: Pod) => !isTerminating(pod) && isAvailable(pod, minReadySeconds, nowMs);
  const isBusy = () => step.create.length + step.delete.length > 0;

  for (let ordinal = first; ordinal < first + replicas; ordinal++) {
    const pod = byOrdinal.get(ordinal);
    if (!pod) step.create.push({ ordinal, revision: revisionFor(set, ordinal, revisions) });
    // It has ended. Its name is free again when it is gone.
    else if (isFinished(pod) && !isTerminating(pod)) step.delete.push(pod);
    else if (!isOrdered || isHealthy(pod)) continue;
    else return { ...nothing, ...waitFor(pod, minReadySeconds, nowMs) };
    if (isOrdered) return step;
  }
  const condemned = pods
    .filter((pod) => !isWanted(ordinalOf(set, pod), first, replicas))
    .sort((a, b) => (ordinalOf(set, b) ?? 0) - (ordinalOf(set, a) ?? 0));
  for (const pod of condemned) {
    if (isTerminating(pod)) {
      if (isOrdered) return step;
      continue;
    }
    step.delete.push(pod);
    if (isOrdered) return step;
  }
  if (isBusy()) return step;
  return updateOne(set, byOrdinal, revisions, isHealthy) ?? nothing;
}

/** With a partition, pods below it keep the revision that they have. */
function revisionFor({ spec }: StatefulSet, ordinal: number, { current, update }: Revisions): string {
  const { type = "RollingUpdate", rollingUpdate } = spec.updateStrategy ?? {};
  const kept = (spec.ordinals?.start ?? 0) + (rollingUpdate?.partition ?? 0);
  return type === "RollingUpdate" && ordinal < kept ? current : update;
}

/** Replaces one pod of an older revision: the highest first, and the next when the one before is healthy. */
function updateOne(
  { spec }: StatefulSet,
  byOrdinal: ReadonlyMap<number | undefined, Pod>,
  { update }: Revisions,
  isHealthy: (pod: Pod) => boolean,
): StatefulSetStep | undefined {
  const { type = "RollingUpdate", rollingUpdate } = spec.updateStrategy ?? {};
  if (type !== "RollingUpdate") return undefined;
  const first = spec.ordinals?.start ?? 0;
  const last = first + (spec.replicas ?? 1) - 1;
  for (let ordinal = last; ordinal >= first + (rollingUpdate?.partition ?? 0); ordinal--) {
    const pod = byOrdinal.get(ordinal);
    if (!pod) return undefined;
    if (revisionOfPod(pod) !== update && !isTerminating(pod)) return { create: [], delete: [pod] };
    if (!isHealthy(pod)) return undefined;
  }
  return undefined;
}

function isWanted(ordinal: number | undefined, first: number, replicas: number): boolean {
  return ordinal !== undefined && ordinal >= first && ordinal < first + replicas;
}

function waitFor(pod: Pod, minReadySeconds: number, nowMs: number): { againInMs?: number } {
  const againInMs = isTerminating(pod) ? undefined : availableInMs(pod, minReadySeconds, nowMs);
  return againInMs === undefined ? {} : { againInMs };
}

/** The status. When all pods have the new revision and are ready, it becomes the current one. */
export function statusOf(
  { metadata, spec, status }: StatefulSet,
  pods: readonly Pod[],
  revisions: Revisions,
  nowMs: number,
): StatefulSetStatus {
  const { replicas = 1, minReadySeconds = 0 } = spec;
  const live = pods.filter((pod) => !isTerminating(pod));
  const of = (revision: string) => live.filter((pod) => revisionOfPod(pod) === revision).length;
  const ready = pods.filter(isReady).length;
  const available = pods.filter((pod) => isAvailable(pod, minReadySeconds, nowMs)).length;
  const updated = of(revisions.update);
  const isComplete =
    revisions.current !== revisions.update &&
    updated === replicas &&
    ready === replicas &&
    pods.length === replicas;
  const current = isComplete ? revisions.update : revisions.current;
  return {
    replicas: pods.length,
    readyReplicas: ready,
    availableReplicas: available,
    currentReplicas: of(current),
    updatedReplicas: updated,
    currentRevision: current,
    updateRevision: revisions.update,
    observedGeneration: metadata.generation ?? 0,
    collisionCount: status?.collisionCount ?? 0,
    ...(status?.conditions ? { conditions: status.conditions } : {}),
  };
}
