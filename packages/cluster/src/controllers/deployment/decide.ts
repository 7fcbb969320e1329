/** One step of a Deployment: observed objects in, writes out. The next step follows when the writes are visible. */

import type { Pod } from "../../client/objects.ts";
import { isFinished } from "../../client/pods.ts";
import type { Deployment, DeploymentStatus, ReplicaSet } from "../../client/workloads.ts";
import { boundsOf, isRolling } from "./bounds.ts";
import {
  isScalingEvent,
  newSetAnnotations,
  nextRevision,
  revisionAnnotation,
  revisionOf,
  sizeAnnotations,
} from "./revision.ts";
import { newSetSize, oldSetSizes, type Sizes, scaledSizes, sizeOf } from "./sizes.ts";
import { countsOf, hasDeadline, isComplete, progressing, progressOf, withCondition } from "./status.ts";
import { findNewSet } from "./template.ts";

export interface DeploymentStep {
  /** Create the ReplicaSet of the present template, of this size. */
  readonly create?: { readonly size: number; readonly revision: bigint };
  /** ReplicaSets to replace, with their changes. */
  readonly replace: readonly { readonly before: ReplicaSet; readonly after: ReplicaSet }[];
  /** ReplicaSets to delete, because the history is limited. */
  readonly delete: readonly ReplicaSet[];
  /** The revision annotation of the Deployment, if it changes. */
  readonly revision?: string;
  readonly status: DeploymentStatus;
}

/** @param sets the ReplicaSets of the Deployment @param podsOf the pods of a ReplicaSet */
export function decideDeployment(
  deployment: Deployment,
  sets: readonly ReplicaSet[],
  podsOf: (set: ReplicaSet) => readonly Pod[],
  nowMs: number,
): DeploymentStep {
  const newSet = findNewSet(deployment, sets);
  const observed = { newSet, all: sets };
  const old = sets.filter((set) => set !== newSet);
  const counts = countsOf(deployment, observed, nowMs);
  const nothing = { replace: [], delete: [] };
  if (deployment.metadata.deletionTimestamp) return { ...nothing, status: counts };
  const marked = markPause(deployment, counts, nowMs);
  if (deployment.spec.paused) {
    const replace = replacements(deployment, sets, undefined, scaledSizes(deployment, newSet, old));
    return { replace, delete: expired(deployment, old), status: marked };
  }
  const revision = nextRevision(old);
  if (isScalingEvent(deployment, sets)) {
    const replace = replacements(deployment, sets, undefined, scaledSizes(deployment, newSet, old));
    // The annotations change even if no size does. Otherwise this step would repeat for ever.
    return { replace: withSizeAnnotations(deployment, sets, replace), delete: [], status: marked };
  }
  const status = progressOf(deployment, marked, observed, nowMs);
  if (!isRolling(deployment) && hasOldPods(old, podsOf)) {
    const sizes = new Map(old.filter((set) => sizeOf(set) > 0).map(({ metadata }) => [metadata.name, 0]));
    return { replace: replacements(deployment, sets, undefined, sizes), delete: [], status };
  }
  if (!newSet) {
    const create = { size: newSetSize(deployment, sets, 0), revision };
    return { ...nothing, create, ...revisionChange(deployment, revision), status };
  }
  return {
    ...rollOut(deployment, sets, newSet, revision, status),
    status: foundNewSet(deployment, newSet, status, nowMs),
  };
}

function rollOut(
  deployment: Deployment,
  sets: readonly ReplicaSet[],
  newSet: ReplicaSet,
  revision: bigint,
  status: DeploymentStatus,
): Omit<DeploymentStep, "status" | "create"> {
  const old = sets.filter((set) => set !== newSet);
  const updated = updateNewSet(deployment, newSet, revision);
  const size = newSetSize(deployment, sets, sizeOf(newSet));
  const sizes: Sizes =
    size !== sizeOf(newSet) ? new Map([[newSet.metadata.name, size]]) : oldSetSizes(deployment, newSet, old);
  return {
    replace: replacements(deployment, sets, updated, sizes),
    delete: sizes.size === 0 && isComplete(deployment, status) ? expired(deployment, old) : [],
    ...revisionChange(deployment, revisionOf(newSet) > revision ? revisionOf(newSet) : revision),
  };
}

function revisionChange({ metadata }: Deployment, revision: bigint): { revision?: string } {
  return metadata.annotations?.[revisionAnnotation] === String(revision)
    ? {}
    : { revision: String(revision) };
}

/** The new ReplicaSet with the annotations and the settings of the Deployment. */
function updateNewSet(deployment: Deployment, set: ReplicaSet, revision: bigint): ReplicaSet {
  const present = set.metadata.annotations ?? {};
  const { minReadySeconds = 0 } = deployment.spec;
  const isSame = (set.spec.minReadySeconds ?? 0) === minReadySeconds;
  return {
    ...set,
    metadata: { ...set.metadata, annotations: newSetAnnotations(deployment, present, revision) },
    spec: isSame ? set.spec : { ...set.spec, minReadySeconds },
  };
}

/** All changes of one ReplicaSet together, because a second write would need the version after the first. */
function replacements(
  deployment: Deployment,
  sets: readonly ReplicaSet[],
  updated: ReplicaSet | undefined,
  sizes: Sizes,
): DeploymentStep["replace"] {
  return sets
    .map((before) => {
      const after = before.metadata.uid === updated?.metadata.uid ? updated : before;
      const size = sizes.get(before.metadata.name);
      return { before, after: size === undefined ? after : scaled(deployment, after, size) };
    })
    .filter(({ before, after }) => JSON.stringify(before) !== JSON.stringify(after));
}

function scaled(deployment: Deployment, set: ReplicaSet, replicas: number): ReplicaSet {
  const annotations = { ...set.metadata.annotations, ...sizeAnnotations(boundsOf(deployment)) };
  return { ...set, metadata: { ...set.metadata, annotations }, spec: { ...set.spec, replicas } };
}

/** All active ReplicaSets know the new size of the Deployment. */
function withSizeAnnotations(
  deployment: Deployment,
  sets: readonly ReplicaSet[],
  replace: DeploymentStep["replace"],
): DeploymentStep["replace"] {
  const sizes = new Map(sets.filter((set) => sizeOf(set) > 0).map((set) => [set.metadata.name, sizeOf(set)]));
  for (const { after } of replace) sizes.set(after.metadata.name, sizeOf(after));
  return replacements(deployment, sets, undefined, sizes);
}

/** ReplicaSets beyond the history limit: the oldest revisions that have no pods. */
function expired({ spec }: Deployment, old: readonly ReplicaSet[]): ReplicaSet[] {
  const { revisionHistoryLimit: limit = 10 } = spec;
  const alive = old.filter(({ metadata }) => !metadata.deletionTimestamp);
  return [...alive]
    .sort((a, b) => (revisionOf(a) < revisionOf(b) ? -1 : 1))
    .slice(0, Math.max(alive.length - limit, 0))
    .filter(
      (set) =>
        sizeOf(set) === 0 &&
        (set.status?.replicas ?? 0) === 0 &&
        (set.metadata.generation ?? 0) <= (set.status?.observedGeneration ?? 0),
    );
}

/** With Recreate, nothing new starts before everything old has stopped. */
function hasOldPods(old: readonly ReplicaSet[], podsOf: (set: ReplicaSet) => readonly Pod[]): boolean {
  return old.some(
    (set) =>
      sizeOf(set) > 0 || (set.status?.replicas ?? 0) > 0 || podsOf(set).some((pod) => !isFinished(pod)),
  );
}

function markPause(deployment: Deployment, status: DeploymentStatus, nowMs: number): DeploymentStatus {
  if (!hasDeadline(deployment)) return status;
  const reason = progressing(status)?.reason;
  if (reason === "ProgressDeadlineExceeded") return status;
  const isMarked = reason === "DeploymentPaused";
  if (deployment.spec.paused === true && !isMarked)
    return withCondition(status, pauseCondition("DeploymentPaused", "Deployment is paused"), nowMs);
  if (!deployment.spec.paused && isMarked)
    return withCondition(status, pauseCondition("DeploymentResumed", "Deployment is resumed"), nowMs);
  return status;
}

const pauseCondition = (reason: string, message: string) =>
  ({ type: "Progressing", status: "Unknown", reason, message }) as const;

function foundNewSet(
  deployment: Deployment,
  { metadata }: ReplicaSet,
  status: DeploymentStatus,
  nowMs: number,
): DeploymentStatus {
  if (!hasDeadline(deployment) || progressing(status)) return status;
  const message = `Found new replica set ${JSON.stringify(metadata.name)}`;
  const condition = { type: "Progressing", status: "True", reason: "FoundNewReplicaSet", message } as const;
  return withCondition(status, condition, nowMs);
}
