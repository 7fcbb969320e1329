/** One step of a Job: observed objects in, writes out. */
import type { Condition, Pod } from "../../client/objects.ts";
import { isActive, isFinished, isReady, isTerminating } from "../../client/pods.ts";
import { formatTime, parseTime } from "../../client/time.ts";
import type { Job, JobStatus } from "../../client/workloads.ts";
import { rankForDeletion } from "../replica-set/rank.ts";
import {
  countsPerIndex,
  failureAction,
  failuresAfter,
  failuresBefore,
  hasFailed,
  type IndexFailures,
} from "./failures.ts";
import { freeIndexes, isIndexed } from "./indexes.ts";
import { metSuccessRule } from "./success-policy.ts";
import { type Tracked, track } from "./track.ts";

/** Waits between a failure and the next pod. They double with every failure. */
const firstRetryMs = 10_000;
const longestRetryMs = 10 * 60_000;

export interface NewPod {
  readonly index?: number;
  /** How often the index has failed, if the Job limits that. */
  readonly failures?: IndexFailures;
}

export interface JobStep {
  readonly status: JobStatus;
  /** Pods to create. Each has an index if the Job is indexed. */
  readonly create: readonly NewPod[];
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
  const isEnding = isJobFinished(job) || announcedEnd(job) !== undefined;
  const tracked = track(job, pods, isEnding);
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
  const end = endOf(job, status, tracked, pods, nowMs);
  if (end) {
    const isOver =
      active.length === 0 && terminating.length === 0 && tracked.awaiting.size === 0 && isCounted(status);
    return {
      ...nothing,
      delete: active,
      status: isOver ? finish(status, end, nowMs) : withCondition(status, end, nowMs),
    };
  }
  const suspended = suspension(job, status, nowMs);
  if (job.spec.suspend) return { ...nothing, discard: active, status: suspended };
  if (!isSettled) return { ...nothing, status: suspended };
  const changes = podChanges(job, tracked, pods, nowMs);
  const waits = [changes.againInMs, deadlineInMs(job, status, nowMs)].filter((ms) => ms !== undefined);
  const again = waits.length > 0 ? { againInMs: Math.min(...waits) } : {};
  return { ...nothing, ...changes, status: suspended, ...again };
}

const isCounted = ({ uncountedTerminatedPods: { succeeded = [], failed = [] } = {} }: JobStatus) =>
  succeeded.length + failed.length === 0;

const announcedEnd = (job: Job) =>
  conditionOfJob(job, "SuccessCriteriaMet") ?? conditionOfJob(job, "FailureTarget");

/** Why the Job ends: the condition that announces it. */
function endOf(
  job: Job,
  status: JobStatus,
  { succeeded, failed, succeededIndexes, failedIndexes }: Tracked,
  pods: readonly Pod[],
  nowMs: number,
): Condition | undefined {
  const announced = announcedEnd(job);
  if (announced) return announced;
  const active = pods.filter(isActive);
  const { backoffLimit = 6, activeDeadlineSeconds, completions } = job.spec;
  const failure = (reason: string, message: string): Condition => ({
    type: "FailureTarget",
    status: "True",
    reason,
    message,
  });
  const fatal = pods
    .filter((pod) => hasFailed(job, pod))
    .map((pod) => failureAction(job, pod))
    .find((match) => match?.action === "FailJob");
  if (fatal) return failure("PodFailurePolicy", fatal.message);
  if (failed > backoffLimit || hasTooManyRestarts(job, active, backoffLimit))
    return failure("BackoffLimitExceeded", "Job has reached the specified backoff limit");
  const startMs = parseTime(status.startTime);
  if (
    activeDeadlineSeconds !== undefined &&
    !job.spec.suspend &&
    startMs + activeDeadlineSeconds * 1000 <= nowMs
  )
    return failure("DeadlineExceeded", "Job was active longer than specified deadline");
  const { maxFailedIndexes } = job.spec;
  if (maxFailedIndexes !== undefined && failedIndexes.size > maxFailedIndexes)
    return failure(
      "MaxFailedIndexesExceeded",
      "Job has exceeded the specified maximal number of failed indexes",
    );
  if (failedIndexes.size > 0 && failedIndexes.size + succeededIndexes.size >= (completions ?? 0))
    return failure("FailedIndexes", "Job has failed indexes");
  const rule = metSuccessRule(job, succeededIndexes);
  if (rule) return { type: "SuccessCriteriaMet", status: "True", reason: "SuccessPolicy", message: rule };
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
  { succeeded, succeededIndexes, failedIndexes, awaiting }: Tracked,
  pods: readonly Pod[],
  nowMs: number,
): Pick<JobStep, "create" | "discard" | "againInMs"> {
  const { parallelism = 1, completions, podReplacementPolicy } = job.spec;
  const active = pods.filter(isActive);
  const terminating = pods.filter((pod) => isTerminating(pod) && !isFinished(pod));
  const wanted =
    completions === undefined
      ? succeeded > 0
        ? Math.min(active.length, parallelism)
        : parallelism
      : Math.min(parallelism, Math.max(completions - succeeded, 0));
  if (active.length > wanted)
    return { create: [], discard: rankForDeletion(active, active, nowMs).slice(0, active.length - wanted) };
  const present = podReplacementPolicy === "Failed" ? [...active, ...terminating] : active;
  const missing = wanted - present.length;
  if (missing <= 0) return { create: [], discard: [] };
  const ended = new Set([...succeededIndexes, ...failedIndexes]);
  const indexes = isIndexed(job) ? freeIndexes(job, ended, present, missing) : undefined;
  if (indexes && countsPerIndex(job)) {
    const waits = indexes.map((index) => ({ index, inMs: replacementInMs(awaiting.get(index), nowMs) }));
    const create = waits
      .filter(({ inMs }) => inMs === 0)
      .map(({ index }) => ({ index, failures: failuresAfter(job, awaiting.get(index)) }));
    const later = waits.map(({ inMs }) => inMs).filter((inMs) => inMs > 0);
    return { create, discard: [], ...(later.length > 0 ? { againInMs: Math.min(...later) } : {}) };
  }
  const waitMs = retryInMs(pods, nowMs);
  if (waitMs > 0) return { create: [], discard: [], againInMs: waitMs };
  const create = indexes?.map((index) => ({ index })) ?? Array.from({ length: missing }, () => ({}));
  return { create, discard: [] };
}

/** How long the failed pod of an index waits for its replacement. */
function replacementInMs(failed: Pod | undefined, nowMs: number): number {
  if (!failed) return 0;
  const { counted, ignored } = failuresBefore(failed);
  return Math.max(finishedMs(failed) + backoffMs(counted + ignored + 1) - nowMs, 0);
}

const backoffMs = (failures: number) =>
  Math.min(firstRetryMs * 2 ** Math.min(failures - 1, 10), longestRetryMs);

const finishedMs = (pod: Pod) =>
  Math.max(
    parseTime(pod.metadata.deletionTimestamp),
    ...(pod.status?.containerStatuses ?? []).map(({ state }) => parseTime(state?.terminated?.finishedAt)),
    ...(pod.status?.conditions ?? []).map(({ lastTransitionTime }) => parseTime(lastTransitionTime)),
  );

/** How long to wait after the failures since the last success. */
function retryInMs(pods: readonly Pod[], nowMs: number): number {
  const lastSuccessMs = Math.max(
    0,
    ...pods.filter(({ status }) => status?.phase === "Succeeded").map(finishedMs),
  );
  const failures = pods
    .filter(({ status }) => status?.phase === "Failed")
    .map(finishedMs)
    .filter((ms) => ms > lastSuccessMs);
  if (failures.length === 0) return 0;
  return Math.max(Math.max(...failures) + backoffMs(failures.length) - nowMs, 0);
}

function deadlineInMs({ spec }: Job, { startTime }: JobStatus, nowMs: number): number | undefined {
  if (spec.activeDeadlineSeconds === undefined || startTime === undefined) return undefined;
  return Math.max(parseTime(startTime) + spec.activeDeadlineSeconds * 1000 - nowMs, 0);
}
