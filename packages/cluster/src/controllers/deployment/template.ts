/** Which ReplicaSet a template belongs to. */
import type { PodTemplate } from "../../client/objects.ts";
import { parseTime } from "../../client/time.ts";
import type { Deployment, ReplicaSet } from "../../client/workloads.ts";
import { canonicalText, shortHash } from "../names.ts";

export const hashLabel = "pod-template-hash";

/** The hash that tells the ReplicaSets of a Deployment apart. @param collisions hashes that were taken already */
export function templateHash(template: PodTemplate, collisions: number | undefined): string {
  return shortHash(`${comparable(template)}${collisions ?? ""}`);
}

/** The ReplicaSet with the Deployment's template: the oldest, if there are several. */
export function findNewSet({ spec }: Deployment, sets: readonly ReplicaSet[]): ReplicaSet | undefined {
  const wanted = comparable(spec.template);
  return byAge(sets).find((set) => comparable(set.spec.template) === wanted);
}

export function hasTemplateOf({ spec }: ReplicaSet, deployment: Deployment): boolean {
  return comparable(spec.template) === comparable(deployment.spec.template);
}

/** The oldest first. */
export function byAge(sets: readonly ReplicaSet[]): ReplicaSet[] {
  return [...sets].sort(
    (a, b) =>
      parseTime(a.metadata.creationTimestamp) - parseTime(b.metadata.creationTimestamp) ||
      (a.metadata.name < b.metadata.name ? -1 : 1),
  );
}

function comparable({ metadata = {}, spec }: PodTemplate): string {
  const { [hashLabel]: _hash, ...labels } = metadata.labels ?? {};
  const { creationTimestamp: _time, labels: _labels, ...others } = metadata;
  return canonicalText({ metadata: { ...others, labels }, spec });
}
