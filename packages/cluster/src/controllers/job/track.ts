/**
 * Counts the pods of a Job that have finished, each exactly once. A finalizer keeps a pod until it is recorded: first its uid is
 * written into the status, then the finalizer is removed, then the uid becomes part of a count. A crash between any two of these
 * neither loses a pod nor counts it twice.
 */
import type { Pod } from "../../client/objects.ts";
import type { Job, JobStatus } from "../../client/workloads.ts";
import { awaitingReplacement, countsPerIndex, endsIndex, hasFailed, isIgnored } from "./failures.ts";
import { formatIndexes, indexOf, isIndexed, parseIndexes } from "./indexes.ts";

export const trackingFinalizer = "batch.kubernetes.io/job-tracking";

export interface Tracked {
  /** The status with all pods that have finished. */
  readonly status: JobStatus;
  /** Including those that are not counted yet. */
  readonly succeeded: number;
  readonly failed: number;
  readonly succeededIndexes: ReadonlySet<number>;
  readonly failedIndexes: ReadonlySet<number>;
  /** The last failed pod of each index that needs another one. They are kept until it exists. */
  readonly awaiting: ReadonlyMap<number, Pod>;
  /** Pods that are recorded in the stored status, and can go. */
  readonly release: readonly Pod[];
}

const isTracked = ({ metadata }: Pod) => metadata.finalizers?.includes(trackingFinalizer) ?? false;

/** @param pods all pods of the Job @param isEnding whether no pod will be created any more */
export function track(job: Job, pods: readonly Pod[], isEnding = false): Tracked {
  const { uncountedTerminatedPods: uncounted = {}, ...status } = job.status ?? {};
  const held = new Map(pods.filter(isTracked).map((pod) => [pod.metadata.uid, pod]));
  const recorded = { succeeded: uncounted.succeeded ?? [], failed: uncounted.failed ?? [] };
  const isHeld = (uid: string) => held.has(uid);
  // Their finalizer is gone: nothing will record them again.
  const counted = {
    succeeded: recorded.succeeded.filter((uid) => !isHeld(uid)).length,
    failed: recorded.failed.filter((uid) => !isHeld(uid)).length,
  };
  const known = new Set([...recorded.succeeded, ...recorded.failed]);
  const added = [...held.values()].filter(({ metadata }) => !known.has(metadata.uid));
  const completed = completedIndexes(job, pods);
  const failedIndexes = failedIndexesOf(job, pods);
  const ended = new Set([...completed, ...failedIndexes]);
  const awaiting = isEnding ? new Map<number, Pod>() : awaitingReplacement(job, pods, ended);
  const isAwaiting = (pod: Pod) => awaiting.get(indexOf(pod) ?? -1) === pod;
  const newlySucceeded = added.filter(({ status: { phase } = {} }) => phase === "Succeeded");
  const newlyFailed = added.filter((pod) => hasFailed(job, pod) && !isIgnored(job, pod));
  const ignored = added.filter((pod) => hasFailed(job, pod) && isIgnored(job, pod));
  const toRecord = newlyFailed.filter((pod) => !isAwaiting(pod));
  const left = {
    succeeded: [...recorded.succeeded.filter(isHeld), ...newlySucceeded.map(({ metadata }) => metadata.uid)],
    failed: [...recorded.failed.filter(isHeld), ...toRecord.map(({ metadata }) => metadata.uid)],
  };
  const countedSucceeded = (status.succeeded ?? 0) + counted.succeeded;
  const failed = (status.failed ?? 0) + counted.failed;
  const succeeded = isIndexed(job) ? completed.size : countedSucceeded + left.succeeded.length;
  return {
    status: {
      ...status,
      succeeded: isIndexed(job) ? completed.size : countedSucceeded,
      ...(completed.size > 0 ? { completedIndexes: formatIndexes(completed) } : {}),
      ...(countsPerIndex(job) ? { failedIndexes: formatIndexes(failedIndexes) } : {}),
      failed,
      uncountedTerminatedPods: {
        ...(left.succeeded.length > 0 ? { succeeded: left.succeeded } : {}),
        ...(left.failed.length > 0 ? { failed: left.failed } : {}),
      },
    },
    succeeded,
    failed: failed + left.failed.length + newlyFailed.filter(isAwaiting).length,
    succeededIndexes: completed,
    failedIndexes,
    awaiting,
    release: [
      ...[...known].flatMap((uid) => held.get(uid) ?? []),
      ...ignored.filter((pod) => !isAwaiting(pod)),
    ],
  };
}

/** The indexes that are recorded, and those of pods that are about to be. */
function completedIndexes(job: Job, pods: readonly Pod[]): Set<number> {
  if (!isIndexed(job)) return new Set();
  const hasSucceeded = (pod: Pod) => pod.status?.phase === "Succeeded";
  return withIndexesOf(job, job.status?.completedIndexes, pods.filter(hasSucceeded));
}

function failedIndexesOf(job: Job, pods: readonly Pod[]): Set<number> {
  if (!countsPerIndex(job)) return new Set();
  const hasEnded = (pod: Pod) => endsIndex(job, pod);
  return withIndexesOf(job, job.status?.failedIndexes, pods.filter(hasEnded));
}

function withIndexesOf(job: Job, recorded: string | undefined, pods: readonly Pod[]): Set<number> {
  const indexes = parseIndexes(recorded);
  for (const pod of pods.filter(isTracked)) {
    const index = indexOf(pod);
    if (index !== undefined && index < (job.spec.completions ?? 0)) indexes.add(index);
  }
  return indexes;
}
