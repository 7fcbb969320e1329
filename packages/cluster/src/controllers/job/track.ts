/**
 * Counts the pods of a Job that have finished, each exactly once. A finalizer keeps a pod until it is recorded: first its uid is
 * written into the status, then the finalizer is removed, then the uid becomes part of a count. A crash between any two of these
 * neither loses a pod nor counts it twice.
 */
import type { Pod } from "../../client/objects.ts";
import { isFinished, isTerminating } from "../../client/pods.ts";
import type { Job, JobStatus } from "../../client/workloads.ts";
import { formatIndexes, indexOf, isIndexed, parseIndexes } from "./indexes.ts";

export const trackingFinalizer = "batch.kubernetes.io/job-tracking";

export interface Tracked {
  /** The status with all pods that have finished. */
  readonly status: JobStatus;
  /** Including those that are not counted yet. */
  readonly succeeded: number;
  readonly failed: number;
  /** Pods that are recorded in the stored status, and can go. */
  readonly release: readonly Pod[];
}

const isTracked = ({ metadata }: Pod) => metadata.finalizers?.includes(trackingFinalizer) ?? false;

/** Whether the pod counts as failed: also a pod that is deleted, unless the Job waits for the end of such pods. */
function hasFailed(job: Job, pod: Pod): boolean {
  if (isFinished(pod)) return pod.status?.phase === "Failed";
  return isTerminating(pod) && job.spec.podReplacementPolicy !== "Failed";
}

/** @param pods all pods of the Job */
export function track(job: Job, pods: readonly Pod[]): Tracked {
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
  const newlySucceeded = added.filter(({ status: { phase } = {} }) => phase === "Succeeded");
  const newlyFailed = added.filter((pod) => hasFailed(job, pod));
  const left = {
    succeeded: [...recorded.succeeded.filter(isHeld), ...newlySucceeded.map(({ metadata }) => metadata.uid)],
    failed: [...recorded.failed.filter(isHeld), ...newlyFailed.map(({ metadata }) => metadata.uid)],
  };
  const completed = completedIndexes(job, pods);
  const countedSucceeded = (status.succeeded ?? 0) + counted.succeeded;
  const failed = (status.failed ?? 0) + counted.failed;
  const succeeded = completed ? completed.size : countedSucceeded + left.succeeded.length;
  return {
    status: {
      ...status,
      ...(completed ? { succeeded: completed.size } : { succeeded: countedSucceeded }),
      ...(completed && completed.size > 0 ? { completedIndexes: formatIndexes(completed) } : {}),
      failed,
      uncountedTerminatedPods: {
        ...(left.succeeded.length > 0 ? { succeeded: left.succeeded } : {}),
        ...(left.failed.length > 0 ? { failed: left.failed } : {}),
      },
    },
    succeeded,
    failed: failed + left.failed.length,
    release: [...known].flatMap((uid) => held.get(uid) ?? []),
  };
}

/** The indexes that are recorded, and those of pods that are about to be. */
function completedIndexes(job: Job, pods: readonly Pod[]): Set<number> | undefined {
  if (!isIndexed(job)) return undefined;
  const completed = parseIndexes(job.status?.completedIndexes);
  for (const pod of pods) {
    const index = indexOf(pod);
    const isValid = index !== undefined && index < (job.spec.completions ?? 0);
    if (isValid && pod.status?.phase === "Succeeded" && isTracked(pod)) completed.add(index);
  }
  return completed;
}
