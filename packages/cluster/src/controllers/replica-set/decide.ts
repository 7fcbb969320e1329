/** What a ReplicaSet needs: how many pods to create, which to delete, and its status. */

import type { Condition, Pod } from "../../client/objects.ts";
import { isAvailable, isReady } from "../../client/pods.ts";
import { matchesSelector } from "../../client/selector.ts";
import { formatTime } from "../../client/time.ts";
import type { ReplicaSet, ReplicaSetStatus } from "../../client/workloads.ts";
import { rankForDeletion } from "./rank.ts";

/** A ReplicaSet creates or deletes at most this many pods at once. */
const mostAtOnce = 500;

export interface PodChanges {
  readonly create: number;
  readonly delete: Pod[];
}

/** @param pods the active pods of the ReplicaSet @param related the active pods of all ReplicaSets of the same owner */
export function decidePods(
  { spec }: ReplicaSet,
  pods: readonly Pod[],
  related: readonly Pod[],
  nowMs: number,
): PodChanges {
  const missing = (spec.replicas ?? 1) - pods.length;
  if (missing >= 0) return { create: Math.min(missing, mostAtOnce), delete: [] };
  const count = Math.min(-missing, mostAtOnce);
  return { create: 0, delete: rankForDeletion(pods, related, nowMs).slice(0, count) };
}

/** @param failure why pods could not be created or deleted */
export function statusOf(
  { metadata, spec, status }: ReplicaSet,
  pods: readonly Pod[],
  failure: { reason: "FailedCreate" | "FailedDelete"; message: string } | undefined,
  nowMs: number,
): ReplicaSetStatus {
  const { minReadySeconds = 0, template } = spec;
  const selector = { matchLabels: template.metadata?.labels ?? {} };
  const count = (test: (pod: Pod) => boolean) => pods.filter(test).length;
  const conditions = withFailure(status?.conditions ?? [], failure, nowMs);
  return {
    replicas: pods.length,
    ...positive(
      "fullyLabeledReplicas",
      count((pod) => matchesSelector(selector, pod.metadata.labels)),
    ),
    ...positive("readyReplicas", count(isReady)),
    ...positive(
      "availableReplicas",
      count((pod) => isAvailable(pod, minReadySeconds, nowMs)),
    ),
    ...positive("observedGeneration", metadata.generation ?? 0),
    ...(conditions.length > 0 ? { conditions } : {}),
  };
}

function withFailure(
  conditions: readonly Condition[],
  failure: { reason: string; message: string } | undefined,
  nowMs: number,
): Condition[] {
  const others = conditions.filter(({ type }) => type !== "ReplicaFailure");
  if (!failure) return others;
  const known = conditions.find(({ type }) => type === "ReplicaFailure");
  if (known?.reason === failure.reason) return [...others, known];
  const lastTransitionTime = formatTime(nowMs);
  return [...others, { type: "ReplicaFailure", status: "True", lastTransitionTime, ...failure }];
}

/** The API server leaves out zeros too, so that an unchanged status is recognised. */
function positive<Name extends string>(name: Name, value: number): { [key in Name]?: number } {
  return (value === 0 ? {} : { [name]: value }) as { [key in Name]?: number };
}
