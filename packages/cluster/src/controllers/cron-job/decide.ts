/** One step of a CronJob: observed objects in, writes out. */
import type { OwnerReference } from "../../client/objects.ts";
import { formatTime, parseTime } from "../../client/time.ts";
import type { CronJob, CronJobStatus, Job } from "../../client/workloads.ts";
import { conditionOfJob, isJobFinished } from "../job/decide.ts";
import { momentsIn, nextTime, parseSchedule } from "./schedule.ts";

/** A controller that was down for long does not count every missed time. */
const mostMissed = 100;

export interface CronStep {
  readonly status: CronJobStatus;
  /** The time for which a Job is due. */
  readonly dueMs?: number;
  readonly delete: readonly Job[];
  /** Why a due time is left out, for an event. */
  readonly skipped?: { readonly reason: string; readonly message: string };
  /** Why the schedule cannot be used. */
  readonly problem?: string;
  readonly againInMs?: number;
}

/** @param jobs the Jobs of the CronJob */
export function decideCronJob(cron: CronJob, jobs: readonly Job[], nowMs: number): CronStep {
  const { suspend, concurrencyPolicy = "Allow" } = cron.spec;
  const active = jobs.filter((job) => !isJobFinished(job) && !job.metadata.deletionTimestamp);
  const expired = expiredJobs(cron, jobs);
  const status = statusOf(cron, jobs, active);
  const nothing = { status, delete: expired };
  if (suspend || cron.metadata.deletionTimestamp) return nothing;
  let times: { dueMs: number | undefined; nextMs: number | undefined };
  try {
    times = timesOf(cron, nowMs);
  } catch (error) {
    return { ...nothing, problem: (error as Error).message };
  }
  const { dueMs, nextMs } = times;
  const again = nextMs === undefined ? {} : { againInMs: nextMs - nowMs };
  if (dueMs === undefined) return { ...nothing, ...again };
  const deadlineMs = (cron.spec.startingDeadlineSeconds ?? Number.POSITIVE_INFINITY) * 1000;
  if (dueMs + deadlineMs < nowMs) {
    const message = `Missed scheduled time to start a job: ${formatTime(dueMs)}`;
    return { ...nothing, ...again, skipped: { reason: "MissSchedule", message } };
  }
  if (concurrencyPolicy === "Forbid" && active.length > 0) {
    const message = "Not starting job because prior execution is running and concurrency policy is Forbid";
    return { ...nothing, ...again, skipped: { reason: "JobAlreadyActive", message } };
  }
  return {
    ...again,
    dueMs,
    delete: concurrencyPolicy === "Replace" ? [...expired, ...active] : expired,
    status: { ...status, lastScheduleTime: formatTime(dueMs) },
  };
}

/** The latest time that has passed since the last Job, and the next time. */
function timesOf(
  { metadata, spec, status }: CronJob,
  nowMs: number,
): { dueMs: number | undefined; nextMs: number | undefined } {
  const schedule = parseSchedule(spec.schedule);
  const momentOf = momentsIn(spec.timeZone);
  const { startingDeadlineSeconds: deadline } = spec;
  const sinceMs = Math.max(
    parseTime(status?.lastScheduleTime ?? metadata.creationTimestamp),
    deadline === undefined ? 0 : nowMs - deadline * 1000,
  );
  let dueMs: number | undefined;
  let nextMs = nextTime(schedule, sinceMs, momentOf);
  for (let missed = 0; nextMs !== undefined && nextMs <= nowMs; missed++) {
    dueMs = nextMs;
    nextMs = nextTime(schedule, missed < mostMissed ? nextMs : Math.max(nextMs, nowMs - 60_000), momentOf);
  }
  return { dueMs, nextMs };
}

/** Finished Jobs beyond the limits: the oldest. */
function expiredJobs({ spec }: CronJob, jobs: readonly Job[]): Job[] {
  const ofType = (type: string, limit: number) => {
    const startMs = (job: Job) => parseTime(job.status?.startTime ?? job.metadata.creationTimestamp);
    const all = jobs
      .filter((job) => conditionOfJob(job, type) && !job.metadata.deletionTimestamp)
      .sort((a, b) => startMs(a) - startMs(b));
    return all.slice(0, Math.max(all.length - limit, 0));
  };
  return [
    ...ofType("Complete", spec.successfulJobsHistoryLimit ?? 3),
    ...ofType("Failed", spec.failedJobsHistoryLimit ?? 1),
  ];
}

function statusOf({ status }: CronJob, jobs: readonly Job[], active: readonly Job[]): CronJobStatus {
  const ends = jobs
    .filter((job) => conditionOfJob(job, "Complete"))
    .map((job) => parseTime(job.status?.completionTime));
  const lastMs = Math.max(parseTime(status?.lastSuccessfulTime), ...ends);
  return {
    ...(active.length > 0 ? { active: active.map(referenceTo) } : {}),
    ...(status?.lastScheduleTime ? { lastScheduleTime: status.lastScheduleTime } : {}),
    ...(lastMs > 0 ? { lastSuccessfulTime: formatTime(lastMs) } : {}),
  };
}

const referenceTo = ({ metadata }: Job) => ({
  apiVersion: "batch/v1",
  kind: "Job",
  name: metadata.name,
  ...(metadata.namespace ? { namespace: metadata.namespace } : {}),
  uid: metadata.uid,
});

/**
 * The Job for a time. Its name contains the time, so that it exists once however often it is created: also when a controller was
 * killed before it could write down that it had created the Job.
 */
export function jobFor(cron: CronJob, dueMs: number, controller: OwnerReference): object {
  const { metadata, spec } = cron.spec.jobTemplate;
  const annotations = {
    ...metadata?.annotations,
    "batch.kubernetes.io/cronjob-scheduled-timestamp": formatTime(dueMs),
  };
  return {
    metadata: {
      name: `${cron.metadata.name}-${Math.floor(dueMs / 60_000)}`,
      namespace: cron.metadata.namespace,
      ...(metadata?.labels ? { labels: metadata.labels } : {}),
      annotations,
      ownerReferences: [controller],
    },
    spec,
  };
}
