/** Revisions in annotations, which `kubectl rollout history` and `kubectl rollout undo` read. */
import type { Labels } from "../../client/objects.ts";
import type { Deployment, ReplicaSet } from "../../client/workloads.ts";
import { type Bounds, boundsOf } from "./bounds.ts";

export const revisionAnnotation = "deployment.kubernetes.io/revision";
const historyAnnotation = "deployment.kubernetes.io/revision-history";
const desiredAnnotation = "deployment.kubernetes.io/desired-replicas";
const maxAnnotation = "deployment.kubernetes.io/max-replicas";

/** Annotations of the Deployment that are not copied to its ReplicaSets. */
const ownAnnotations = new Set([
  "kubectl.kubernetes.io/last-applied-configuration",
  "deprecated.deployment.rollback.to",
  revisionAnnotation,
  historyAnnotation,
  desiredAnnotation,
  maxAnnotation,
]);
const longestHistory = 2_000;

/** Revisions are as large as an int64. */
export const revisionOf = ({ metadata }: ReplicaSet) =>
  numberFrom(metadata.annotations?.[revisionAnnotation]);

const numberFrom = (text = "") => (/^\d{1,19}$/.test(text) ? BigInt(text) : 0n);

/** The revision of the new ReplicaSet: greater than that of all others. */
export function nextRevision(old: readonly ReplicaSet[]): bigint {
  return old.map(revisionOf).reduce((highest, each) => (each > highest ? each : highest), 0n) + 1n;
}

/** The annotations of the new ReplicaSet. An old one that becomes the new one gets a new revision. */
export function newSetAnnotations(deployment: Deployment, present: Labels, revision: bigint): Labels {
  const copied = Object.entries(deployment.metadata.annotations ?? {}).filter(
    ([key]) => !ownAnnotations.has(key),
  );
  const annotations: Record<string, string> = { ...present, ...Object.fromEntries(copied) };
  const former = present[revisionAnnotation];
  if (numberFrom(former) >= revision) return annotations;
  annotations[revisionAnnotation] = String(revision);
  if (former === undefined) return annotations;
  const history = [...(present[historyAnnotation]?.split(",") ?? []), former];
  while (history.join(",").length > longestHistory) history.shift();
  annotations[historyAnnotation] = history.join(",");
  return annotations;
}

/** The size of the Deployment when the ReplicaSet was last scaled. A change of it is a scaling event. */
export function sizeAnnotations({ replicas, maxSurge }: Bounds): Labels {
  return { [desiredAnnotation]: String(replicas), [maxAnnotation]: String(replicas + maxSurge) };
}

export function desiredReplicasOf({ metadata }: ReplicaSet): number | undefined {
  return numberOf(metadata.annotations?.[desiredAnnotation]);
}

export function maxReplicasOf({ metadata }: ReplicaSet): number | undefined {
  return numberOf(metadata.annotations?.[maxAnnotation]);
}

/** Whether the Deployment was scaled since its ReplicaSets were. */
export function isScalingEvent(deployment: Deployment, sets: readonly ReplicaSet[]): boolean {
  const { replicas } = boundsOf(deployment);
  return sets.some((set) => {
    const desired = desiredReplicasOf(set);
    return (set.spec.replicas ?? 0) > 0 && desired !== undefined && desired !== replicas;
  });
}

function numberOf(text: string | undefined): number | undefined {
  return text === undefined || !/^-?\d+$/.test(text) ? undefined : Number(text);
}
