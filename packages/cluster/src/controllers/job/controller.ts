/** Runs Jobs to their end, and deletes them when their time is over. */
import { messageOf } from "@tenure/base";
import { objectPath } from "../../client/api.ts";
import { keyOf, splitKey } from "../../client/informer.ts";
import type { Pod, PodTemplate } from "../../client/objects.ts";
import { claimsOf, controllerOf, controllerReference } from "../../client/owner.ts";
import { jobs, pods } from "../../client/resources.ts";
import { parseTime } from "../../client/time.ts";
import { WorkQueue } from "../../client/work-queue.ts";
import type { Job, JobStatus } from "../../client/workloads.ts";
import { deleteObject, hasCode, patchObject, replaceObject } from "../../client/writes.ts";
import { claimObjects } from "../claim.ts";
import type { Controller } from "../controller.ts";
import { canonicalText } from "../names.ts";
import { PodWriter } from "../pod-writer.ts";
import { conditionOfJob, decideJob, isJobFinished, type JobStep, type NewPod } from "./decide.ts";
import { failureAnnotations } from "./failures.ts";
import { indexKey } from "./indexes.ts";
import { trackingFinalizer } from "./track.ts";

const ownName = "kubernetes.io/job-controller";

export const jobController: Controller = (context) => {
  const { client, platform, informers, onError } = context;
  const all = informers.of(jobs);
  const allPods = informers.of(pods);
  const recorder = context.recorder("job-controller");
  const writer = new PodWriter({ client, platform, recorder, owners: jobs, pods: allPods });
  const queue = new WorkQueue({ platform, onError, work: sync });

  all.onChange(({ previous, current }) => queue.add(keyOf(((current ?? previous) as Job).metadata)));
  allPods.onChange(({ previous, current }) => {
    const pod = (current ?? previous) as Pod;
    for (const owner of [previous, current].map((object) => object && controllerOf(object))) {
      if (owner?.kind !== jobs.kind) continue;
      const key = keyOf({ namespace: pod.metadata.namespace, name: owner.name });
      writer.observe(key, pod, current === undefined);
      queue.add(key);
    }
  });

  async function sync(key: string): Promise<void> {
    const { namespace, name } = splitKey(key);
    const job = all.get(namespace, name);
    if (!job) {
      writer.forget(key);
      await releaseOrphans(namespace, name);
      return;
    }
    if ((job.spec.managedBy ?? ownName) !== ownName) return;
    if (await expire(key, job)) return;
    await writer.repeatUnknown(key, job);
    const isSettled = writer.isSettled(key);
    const controller = controllerReference(jobs, job);
    const claims = claimsOf(job, job.spec.selector, allPods.list(namespace));
    const owned = await claimObjects({
      client,
      resource: pods,
      owners: jobs,
      owner: job,
      controller,
      claims,
    });
    const nowMs = platform.clock.now().wallMs;
    if (job.metadata.deletionTimestamp) {
      // Nobody counts them any more.
      for (const pod of owned) await release(pod);
      return;
    }
    const step = decideJob(job, owned, isSettled, nowMs);
    await updateStatus(job, step.status);
    for (const pod of [...step.release, ...step.discard]) await release(pod);
    const sources = step.create.map((pod) => ({ owner: job, controller, ...templateFor(job, pod) }));
    const failure = (await writer.create(key, sources)) ?? (await writer.delete(key, unsent(step), job));
    if (step.againInMs !== undefined) queue.addAfter(key, step.againInMs);
    if (failure) throw failure.error;
  }

  /** Pods that are being deleted already need no second request. */
  const unsent = (step: JobStep) =>
    [...step.delete, ...step.discard].filter(({ metadata }) => !metadata.deletionTimestamp);

  async function updateStatus(job: Job, status: JobStatus): Promise<void> {
    if (canonicalText(withoutZeros(job.status ?? {})) === canonicalText(withoutZeros(status))) return;
    const updated = await replaceObject(client, jobs, { ...job, status }, "status");
    for (const type of ["Complete", "Failed"]) {
      const condition = conditionOfJob(updated, type);
      if (!condition || conditionOfJob(job, type)) continue;
      const isSuccess = type === "Complete";
      recorder.record(
        { ...job, apiVersion: jobs.apiVersion, kind: jobs.kind },
        {
          type: isSuccess ? "Normal" : "Warning",
          reason: isSuccess ? "Completed" : (condition.reason ?? type),
          message: isSuccess ? "Job completed" : (condition.message ?? ""),
        },
      );
    }
  }

  async function release(pod: Pod): Promise<void> {
    const { uid, resourceVersion, finalizers = [] } = pod.metadata;
    if (!finalizers.includes(trackingFinalizer)) return;
    const left = finalizers.filter((finalizer) => finalizer !== trackingFinalizer);
    const patch = { metadata: { uid, resourceVersion, finalizers: left.length > 0 ? left : null } };
    try {
      await patchObject(client, pods, pod.metadata, patch, { type: "merge" });
    } catch (error) {
      if (!hasCode(error, "NotFound")) throw error;
    }
  }

  /** Pods of a Job that is gone. Nobody counts them, and their finalizer would keep them for ever. */
  async function releaseOrphans(namespace: string, name: string): Promise<void> {
    const orphans = allPods.list(namespace).filter((pod) => {
      const owner = controllerOf(pod);
      const isHeld = pod.metadata.finalizers?.includes(trackingFinalizer);
      return isHeld && owner?.kind === jobs.kind && owner.name === name;
    });
    if (orphans.length === 0) return;
    const uid = await uidOf(namespace, name);
    for (const pod of orphans) if (controllerOf(pod)?.uid !== uid) await release(pod);
  }

  /** Asks the API server, because the copy of the Jobs may be behind that of the pods. */
  async function uidOf(namespace: string, name: string): Promise<string | undefined> {
    try {
      const path = objectPath(jobs, { namespace, name });
      return (await client.request<Job>({ method: "GET", path })).metadata.uid;
    } catch (error) {
      if (hasCode(error, "NotFound")) return undefined;
      throw error;
    }
  }

  /** Deletes a Job whose time after its end is over. */
  async function expire(key: string, job: Job): Promise<boolean> {
    const { ttlSecondsAfterFinished: ttl } = job.spec;
    if (ttl === undefined || !isJobFinished(job) || job.metadata.deletionTimestamp) return false;
    const end = conditionOfJob(job, "Complete") ?? conditionOfJob(job, "Failed");
    const inMs = parseTime(end?.lastTransitionTime) + ttl * 1000 - platform.clock.now().wallMs;
    if (inMs > 0) {
      queue.addAfter(key, inMs);
      return false;
    }
    try {
      await deleteObject(client, jobs, job, { propagationPolicy: "Foreground" });
    } catch (error) {
      throw new Error(`Cannot delete the finished Job ${key}: ${messageOf(error)}`, { cause: error });
    }
    return true;
  }

  return queue;
};

function templateFor(job: Job, { index, failures }: NewPod): { template: PodTemplate; nameBase?: string } {
  const { template } = job.spec;
  const finalizers = [...(template.metadata?.finalizers ?? []), trackingFinalizer];
  if (index === undefined)
    return { template: { ...template, metadata: { ...template.metadata, finalizers } } };
  const { name } = job.metadata;
  const mark = { [indexKey]: String(index) };
  const fieldRef = { fieldPath: `metadata.annotations['${indexKey}']` };
  const variable = { name: "JOB_COMPLETION_INDEX", valueFrom: { fieldRef } };
  const withIndex = <T extends object>(container: T) => {
    const { env = [] } = container as { env?: readonly object[] };
    return { ...container, env: [...env, variable] };
  };
  const { containers, initContainers } = template.spec;
  return {
    nameBase: `${name}-${index}-`,
    template: {
      metadata: {
        ...template.metadata,
        finalizers,
        labels: { ...template.metadata?.labels, ...mark },
        annotations: {
          ...template.metadata?.annotations,
          ...mark,
          ...(failures ? failureAnnotations(failures) : {}),
        },
      },
      spec: {
        ...template.spec,
        hostname: template.spec.hostname ?? `${name}-${index}`,
        containers: containers.map(withIndex),
        ...(initContainers ? { initContainers: initContainers.map(withIndex) } : {}),
      },
    },
  };
}

/** The API server may leave out zeros and empty objects. */
function withoutZeros(status: JobStatus): object {
  const isEmpty = (value: unknown) =>
    value === 0 || (typeof value === "object" && value !== null && Object.keys(value).length === 0);
  return Object.fromEntries(Object.entries(status).filter(([, value]) => !isEmpty(value)));
}
