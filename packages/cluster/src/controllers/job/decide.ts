/** One step of a Job: observed objects in, writes out. */
import type { Condition, Pod } from "../../client/objects.ts";
import { isActive, isFinished, isReady, isTerminating } from "../../client/pods.ts";
import { formatTime, parseTime } from "../../client/time.ts";
import type { Job, JobStatus } from "../../client/workloads.ts";
import { rankForDeletion } from "../replica-set/rank.ts";
import { freeIndexes, indexOf, isIndexed, parseIndexes } from "./indexes.ts";
import { track } from "./track.ts";

/** Waits between a failure and the next pod. They double with every failure. */
const firstRetryMs = 10_000;
const longestRetryMs = 10 * 60_000;

export interface JobStep {
  readonly status: JobStatus;
  /** Pods to create. Each has an index if the Job is indexed. */
  readonly create: readonly { readonly index?: number }[];
  /** Pods to delete because the Job ends. They count as failed. */
  readonly delete: readonly Pod[];
  /** Pods to delete that the Job does not need now. They do not count. */
  readonly discard: readonly Pod[];
  /** Pods whose finalizer can be removed. */
  readonly release: readonly Pod[];
  /** When to look again, if nothing happens before. */
  readonly againInMs?: number;
}

export const conditionOfJob = ({ status }: Job, type: string): Condition | undefined =>
  status?.conditions?.find((condition) => condition.type === type && condition.status === "True");

export const isJobFinished = (job: Job) =>
  conditionOfJob(job, "Complete") !== undefined || conditionOfJob(job, "Failed") !== undefined;

/** @param pods all pods of the Job @param isSettled whether all earlier writes are visible */
export function decideJob(job: Job, pods: readonly Pod[], isSettled: boolean, nowMs: number): JobStep {
  const tracked = track(job, pods);
  const active = pods.filter(isActive);
  const terminating = pods.filter((pod) => isTerminating(pod) && !isFinished(pod));
  const nothing = { create: [], delete: [], discard: [], release: tracked.release };
  if (isJobFinished(job)) return { ...nothing, status: tracked.status };
  const status: JobStatus = {
    ...tracked.status,
    active: active.length,
    ready: active.filter(isReady).length,
    terminating: terminating.length,
    ...(tracked.status.startTime || job.spec.suspend ? {} : { startTime: formatTime(nowMs) }),
  };
  const end = endOf(job, status, tracked, active, nowMs);
  if (end) {
    const isOver = active.length === 0 && terminating.length === 0 && isCounted(status);
    return {
      ...nothing,
      delete: active,
      status: isOver ? finish(status, end, nowMs) : withCondition(status, end, nowMs),
    };
  }
  const suspended = suspension(job, status, nowMs);
  if (job.spec.suspend) return { ...nothing, discard: active, status: suspended };
  if (!isSettled) return { ...nothing, status: suspended };
  const changes = podChanges(job, tracked.succeeded, pods, active, terminating, nowMs);
  const waits = [changes.againInMs, deadlineInMs(job, status, nowMs)].filter((ms) => ms !== undefined);
  const again = waits.length > 0 ? { againInMs: Math.min(...waits) } : {};
  return { ...nothing, ...changes, status: suspended, ...again };
}

const isCounted = ({ uncountedTerminatedPods: { succeeded = [], failed = [] } = {} }: JobStatus) =>
  succeeded.length + failed.length === 0;

/** Why the Job ends: the condition that announces it. */
function endOf(
  job: Job,
  status: JobStatus,
  { succeeded, failed }: { succeeded: number; failed: number },
  active: readonly Pod[],
  nowMs: number,
): Condition | undefined {
  const announced = conditionOfJob(job, "FailureTarget") ?? conditionOfJob(job, "SuccessCriteriaMet");
  if (announced) return announced;
  const { backoffLimit = 6, activeDeadlineSeconds, completions } = job.spec;
  const failure = (reason: string, message: string): Condition => ({
    type: "FailureTarget",
    status: "True",
    reason,
    message,
  });
  if (failed > backoffLimit || hasTooManyRestarts(job, active, backoffLimit))
    return failure("BackoffLimitExceeded", "Job has reached the specified backoff limit");
  const startMs = parseTime(status.startTime);
  if (
    activeDeadlineSeconds !== undefined &&
    !job.spec.suspend &&
    startMs + activeDeadlineSeconds * 1000 <= nowMs
  )
    return failure("DeadlineExceeded", "Job was active longer than specified deadline");
  // Without a number of completions, the first success ends the Job as soon as no pod runs any more.
  const isComplete =
    completions === undefined ? succeeded > 0 && active.length === 0 : succeeded >= completions;
  if (!isComplete) return undefined;
  const message = "Reached expected number of succeeded pods";
  return { type: "SuccessCriteriaMet", status: "True", reason: "CompletionsReached", message };
}

/** With the restart policy OnFailure, containers restart within their pod. */
function hasTooManyRestarts({ spec }: Job, active: readonly Pod[], limit: number): boolean {
  if (spec.template.spec.restartPolicy !== "OnFailure") return false;
  const restarts = active
    .flatMap(({ status }) => status?.containerStatuses ?? [])
    .reduce((sum, { restartCount = 0 }) => sum + restartCount, 0);
  return limit === 0 ? restarts > 0 : restarts >= limit;
}

function finish(status: JobStatus, end: Condition, nowMs: number): JobStatus {
  const { reason = "", message = "" } = end;
  const isSuccess = end.type === "SuccessCriteriaMet";
  const announced = withCondition(status, end, nowMs);
  const final: Condition = { type: isSuccess ? "Complete" : "Failed", status: "True", reason, message };
  return {
    ...withCondition(announced, final, nowMs),
    ...(isSuccess ? { completionTime: formatTime(nowMs) } : {}),
  };
}

function withCondition(status: JobStatus, condition: Condition, nowMs: number): JobStatus {
  const known = status.conditions?.find(({ type }) => type === condition.type);
  if (known?.status === condition.status && known.reason === condition.reason) return status;
  const time = formatTime(nowMs);
  const others = (status.conditions ?? []).filter(({ type }) => type !== condition.type);
  return {
    ...status,
    conditions: [...others, { ...condition, lastProbeTime: time, lastTransitionTime: time }],
  };
}

function suspension(job: Job, status: JobStatus, nowMs: number): JobStatus {
  const isMarked = conditionOfJob(job, "Suspended") !== undefined;
  if (job.spec.suspend) {
    const { startTime: _start, ...rest } = status;
    const reason = {
      type: "Suspended",
      status: "True",
      reason: "JobSuspended",
      message: "Job suspended",
    } as const;
    return withCondition(rest, reason, nowMs);
  }
  if (!isMarked) return status;
  const reason = {
    type: "Suspended",
    status: "False",
    reason: "JobResumed",
    message: "Job resumed",
  } as const;
  return { ...withCondition(status, reason, nowMs), startTime: formatTime(nowMs) };
}

function podChanges(
  job: Job,
  succeeded: number,
  pods: readonly Pod[],
  active: readonly Pod[],
  terminating: readonly Pod[],
  nowMs: number,
): Pick<JobStep, "create" | "discard" | "againInMs"> {
  const { parallelism = 1, completions } = job.spec;
  const wanted =
    completions === undefined
      ? succeeded > 0
        ? Math.min(active.length, parallelism)
        : parallelism
      : Math.min(parallelism, Math.max(completions - succeeded, 0));
  const present = active.length + (job.spec.podReplacementPolicy === "Failed" ? terminating.length : 0);
  if (active.length > wanted)
    return { create: [], discard: rankForDeletion(active, active, nowMs).slice(0, active.length - wanted) };
  const missing = wanted - present;
  if (missing <= 0) return { create: [], discard: [] };
  const waitMs = retryInMs(pods, nowMs);
  if (waitMs > 0) return { create: [], discard: [], againInMs: waitMs };
  if (!isIndexed(job)) return { create: Array.from({ length: missing }, () => ({})), discard: [] };
  const completed = parseIndexes(job.status?.completedIndexes);
  for (const pod of pods) if (pod.status?.phase === "Succeeded") completed.add(indexOf(pod) ?? -1);
  const taken = job.spec.podReplacementPolicy === "Failed" ? [...active, ...terminating] : active;
  return { create: freeIndexes(job, completed, taken, missing).map((index) => ({ index })), discard: [] };
}

/** How long to wait after the failures since the last success. */
function retryInMs(pods: readonly Pod[], nowMs: number): number {
  const finishedMs = (pod: Pod) =>
    Math.max(
      parseTime(pod.metadata.deletionTimestamp),
      ...(pod.status?.containerStatuses ?? []).map(({ state }) => parseTime(state?.terminated?.finishedAt)),
      ...(pod.status?.conditions ?? []).map(({ lastTransitionTime }) => parseTime(lastTransitionTime)),
    );
  const lastSuccessMs = Math.max(
    0,
    ...pods.filter(({ status }) => status?.phase === "Succeeded").map(finishedMs),
  );
  const failures = pods
    .filter(({ status }) => status?.phase === "Failed")
    .map(finishedMs)
    .filter((ms) => ms > lastSuccessMs);
  if (failures.length === 0) return 0;
  const waitMs = Math.min(firstRetryMs * 2 ** Math.min(failures.length - 1, 10), longestRetryMs);
  return Math.max(Math.max(...failures) + waitMs - nowMs, 0);
}

function deadlineInMs({ spec }: Job, { startTime }: JobStatus, nowMs: number): number | undefined {
  if (spec.activeDeadlineSeconds === undefined || startTime === undefined) return undefined;
  return Math.max(parseTime(startTime) + spec.activeDeadlineSeconds * 1000 - nowMs, 0);
}
