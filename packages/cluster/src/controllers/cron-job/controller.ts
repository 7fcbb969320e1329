/** Creates the Jobs of CronJobs at their times, and deletes old ones. */
import { keyOf, splitKey } from "../../client/informer.ts";
import { controllerOf, controllerReference, isControlledBy } from "../../client/owner.ts";
import { cronJobs, jobs } from "../../client/resources.ts";
import { WorkQueue } from "../../client/work-queue.ts";
import type { CronJob, CronJobStatus, Job } from "../../client/workloads.ts";
import {
  createObject,
  deleteObject,
  hasCode,
  isNamespaceEnding,
  replaceObject,
} from "../../client/writes.ts";
import type { Controller } from "../controller.ts";
import { canonicalText } from "../names.ts";
import { decideCronJob, jobFor } from "./decide.ts";

export const cronJobController: Controller = (context) => {
  const { client, platform, informers, onError } = context;
  const all = informers.of(cronJobs);
  const allJobs = informers.of(jobs);
  const recorder = context.recorder("cronjob-controller");
  const queue = new WorkQueue({ platform, onError, work: sync });

  all.onChange(({ previous, current }) => queue.add(keyOf(((current ?? previous) as CronJob).metadata)));
  allJobs.onChange(({ previous, current }) => {
    const job = (current ?? previous) as Job;
    const owner = controllerOf(job);
    if (owner?.kind === cronJobs.kind)
      queue.add(keyOf({ namespace: job.metadata.namespace, name: owner.name }));
  });

  async function sync(key: string): Promise<void> {
    const { namespace, name } = splitKey(key);
    const cron = all.get(namespace, name);
    if (!cron) return;
    const own = allJobs.list(namespace).filter((job) => isControlledBy(job, cron));
    const step = decideCronJob(cron, own, platform.clock.now().wallMs);
    if (step.problem) record(cron, "Warning", "UnparseableSchedule", step.problem);
    if (step.skipped) record(cron, "Normal", step.skipped.reason, step.skipped.message);
    for (const job of step.delete) {
      await deleteObject(client, jobs, job, { propagationPolicy: "Background" });
      record(cron, "Normal", "SuccessfulDelete", `Deleted job ${job.metadata.name}`);
    }
    if (step.dueMs !== undefined && !(await create(cron, step.dueMs))) return;
    await updateStatus(cron, step.status);
    if (step.againInMs !== undefined) queue.addAfter(key, step.againInMs);
  }

  /** False if the namespace is being deleted. */
  async function create(cron: CronJob, dueMs: number): Promise<boolean> {
    const body = jobFor(cron, dueMs, controllerReference(cronJobs, cron));
    try {
      const job = await createObject(client, jobs, cron.metadata.namespace, body);
      record(cron, "Normal", "SuccessfulCreate", `Created job ${job.metadata.name}`);
    } catch (error) {
      if (isNamespaceEnding(error)) return false;
      // It exists: an earlier attempt created it, and could not write that down.
      if (!hasCode(error, "AlreadyExists")) throw error;
    }
    return true;
  }

  async function updateStatus(cron: CronJob, status: CronJobStatus): Promise<void> {
    if (canonicalText({ ...cron.status }) === canonicalText(status)) return;
    await replaceObject(client, cronJobs, { ...cron, status }, "status");
  }

  function record(cron: CronJob, type: "Normal" | "Warning", reason: string, message: string): void {
    const { apiVersion, kind } = cronJobs;
    recorder.record({ ...cron, apiVersion, kind }, { type, reason, message });
  }

  return queue;
};
