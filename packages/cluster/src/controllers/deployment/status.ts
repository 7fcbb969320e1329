/** The status of a Deployment, as `kubectl rollout status` and others read it. */
import type { Condition } from "../../client/objects.ts";
import { formatTime, parseTime } from "../../client/time.ts";
import type { Deployment, DeploymentStatus, ReplicaSet } from "../../client/workloads.ts";
import { boundsOf } from "./bounds.ts";
import { sizeOf, sum } from "./sizes.ts";

/** Kubernetes waits this much longer before it looks whether the deadline has passed. */
const deadlineMarginMs = 1_000;

export interface ObservedSets {
  readonly newSet: ReplicaSet | undefined;
  readonly all: readonly ReplicaSet[];
}

/** The counts and the condition Available. The other conditions stay. */
export function countsOf(
  deployment: Deployment,
  { newSet, all }: ObservedSets,
  nowMs: number,
): DeploymentStatus {
  const { metadata, status } = deployment;
  const { replicas, maxUnavailable } = boundsOf(deployment);
  const available = sum(all, (set) => set.status?.availableReplicas ?? 0);
  const isAvailable = available >= replicas - maxUnavailable;
  const counts = {
    observedGeneration: metadata.generation ?? 0,
    replicas: sum(all, (set) => set.status?.replicas ?? 0),
    updatedReplicas: newSet?.status?.replicas ?? 0,
    readyReplicas: sum(all, (set) => set.status?.readyReplicas ?? 0),
    availableReplicas: available,
    unavailableReplicas: Math.max(sum(all, sizeOf) - available, 0),
    ...(status?.collisionCount === undefined ? {} : { collisionCount: status.collisionCount }),
    conditions: status?.conditions ?? [],
  };
  const condition: Omit<Condition, "type"> = isAvailable
    ? { status: "True", reason: "MinimumReplicasAvailable", message: "Deployment has minimum availability." }
    : {
        status: "False",
        reason: "MinimumReplicasUnavailable",
        message: "Deployment does not have minimum availability.",
      };
  return withCondition(counts, { type: "Available", ...condition }, nowMs);
}

/** Adds Progressing and ReplicaFailure. */
export function progressOf(
  deployment: Deployment,
  counts: DeploymentStatus,
  { newSet, all }: ObservedSets,
  nowMs: number,
): DeploymentStatus {
  const failure = replicaFailure(newSet, all);
  const status = failure
    ? withCondition(counts, { ...failure, type: "ReplicaFailure" }, nowMs)
    : withoutCondition(counts, "ReplicaFailure");
  if (!hasDeadline(deployment)) return withoutCondition(status, "Progressing");
  const current = progressing(status);
  const isDone = status.replicas === status.updatedReplicas && current?.reason === "NewReplicaSetAvailable";
  if (isDone) return status;
  const subject = newSet
    ? `ReplicaSet ${JSON.stringify(newSet.metadata.name)}`
    : `Deployment ${JSON.stringify(deployment.metadata.name)}`;
  const condition = (value: "True" | "False", reason: string, message: string): Condition => ({
    type: "Progressing",
    status: value,
    reason,
    message: `${subject} ${message}`,
  });
  if (isComplete(deployment, status)) {
    const complete = condition("True", "NewReplicaSetAvailable", "has successfully progressed.");
    return withCondition(status, complete, nowMs);
  }
  if (hasProgressed(deployment.status ?? {}, status)) {
    // Replaced even if nothing but its time changes: the deadline counts from the last progress.
    const updated = condition("True", "ReplicaSetUpdated", "is progressing.");
    const since = current?.status === "True" ? current.lastTransitionTime : undefined;
    const time = formatTime(nowMs);
    return {
      ...withoutCondition(status, "Progressing"),
      conditions: [
        ...(withoutCondition(status, "Progressing").conditions ?? []),
        { ...updated, lastUpdateTime: time, lastTransitionTime: since ?? time },
      ],
    };
  }
  if (hasTimedOut(deployment, current, nowMs)) {
    return withCondition(
      status,
      condition("False", "ProgressDeadlineExceeded", "has timed out progressing."),
      nowMs,
    );
  }
  return status;
}

export function isComplete({ metadata, spec }: Deployment, status: DeploymentStatus): boolean {
  const { replicas = 1 } = spec;
  return (
    (status.updatedReplicas ?? 0) === replicas &&
    (status.replicas ?? 0) === replicas &&
    (status.availableReplicas ?? 0) === replicas &&
    (status.observedGeneration ?? 0) >= (metadata.generation ?? 0)
  );
}

/** Kubernetes uses the largest number for "no deadline". */
export function hasDeadline({ spec }: Deployment): boolean {
  return spec.progressDeadlineSeconds !== undefined && spec.progressDeadlineSeconds !== 2_147_483_647;
}

/** How long until the deadline has to be looked at, if nothing happens. */
export function deadlineInMs(
  deployment: Deployment,
  status: DeploymentStatus,
  nowMs: number,
): number | undefined {
  const current = progressing(status);
  if (!hasDeadline(deployment) || !current || isComplete(deployment, status)) return undefined;
  if (current.reason === "ProgressDeadlineExceeded" || current.reason === "NewReplicaSetAvailable")
    return undefined;
  return Math.max(deadlineAtMs(deployment, current) - nowMs, 0) + deadlineMarginMs;
}

/** Sets a condition. Its time of transition changes only with its status. */
export function withCondition(
  status: DeploymentStatus,
  condition: Condition,
  nowMs: number,
): DeploymentStatus {
  const current = status.conditions?.find(({ type }) => type === condition.type);
  if (current?.status === condition.status && current.reason === condition.reason) return status;
  const time = formatTime(nowMs);
  const lastTransitionTime =
    current?.status === condition.status ? (current.lastTransitionTime ?? time) : time;
  const others = withoutCondition(status, condition.type).conditions ?? [];
  return { ...status, conditions: [...others, { ...condition, lastUpdateTime: time, lastTransitionTime }] };
}

export function progressing(status: DeploymentStatus): Condition | undefined {
  return status.conditions?.find(({ type }) => type === "Progressing");
}

function withoutCondition(status: DeploymentStatus, type: string): DeploymentStatus {
  return { ...status, conditions: (status.conditions ?? []).filter((condition) => condition.type !== type) };
}

function hasProgressed(before: DeploymentStatus, after: DeploymentStatus): boolean {
  const old = (status: DeploymentStatus) => (status.replicas ?? 0) - (status.updatedReplicas ?? 0);
  return (
    (after.updatedReplicas ?? 0) > (before.updatedReplicas ?? 0) ||
    old(after) < old(before) ||
    (after.readyReplicas ?? 0) > (before.readyReplicas ?? 0) ||
    (after.availableReplicas ?? 0) > (before.availableReplicas ?? 0)
  );
}

function hasTimedOut(deployment: Deployment, current: Condition | undefined, nowMs: number): boolean {
  if (!current || current.reason === "NewReplicaSetAvailable") return false;
  if (current.reason === "ProgressDeadlineExceeded") return true;
  return deadlineAtMs(deployment, current) < nowMs;
}

function deadlineAtMs({ spec }: Deployment, { lastUpdateTime, lastTransitionTime }: Condition): number {
  return parseTime(lastUpdateTime ?? lastTransitionTime) + (spec.progressDeadlineSeconds ?? 0) * 1000;
}

/** Why pods cannot be created or deleted: of the new ReplicaSet first. */
function replicaFailure(newSet: ReplicaSet | undefined, all: readonly ReplicaSet[]): Condition | undefined {
  return [...(newSet ? [newSet] : []), ...all]
    .flatMap(({ status }) => status?.conditions ?? [])
    .find(({ type, status }) => type === "ReplicaFailure" && status === "True");
}
