/**
 * How many pods of a PodDisruptionBudget are healthy, how many it wants, and how many evictions it allows. An eviction that the
 * API has allowed counts as done for a while, although its pod may still look healthy.
 */
import type { Pod } from "../../client/objects.ts";
import { conditionOf, isReady, isTerminating } from "../../client/pods.ts";
import { formatTime, parseTime } from "../../client/time.ts";
import type { PodDisruptionBudget, PodDisruptionBudgetStatus } from "../../client/workloads.ts";

/** If an evicted pod still exists after this time, its eviction did not happen. */
const evictionMs = 120_000;

const disruptionAllowed = "DisruptionAllowed";

export interface BudgetDecision {
  readonly status: PodDisruptionBudgetStatus;
  /** When an eviction that the API allowed counts as failed. Undefined if there is none. */
  readonly recheckInMs: number | undefined;
}

/** What wants the pods, and how many. */
export interface Scale {
  readonly uid: string;
  readonly replicas: number;
}

/** @param scaleOf what wants the pod; undefined if it is not known */
export function decideBudget(
  budget: PodDisruptionBudget,
  pods: readonly Pod[],
  scaleOf: (pod: Pod) => Scale | undefined,
  nowMs: number,
): BudgetDecision {
  const { expectedPods, desiredHealthy } = wanted(budget, pods, scaleOf);
  const evicted = pods.flatMap((pod) => {
    const time = budget.status?.disruptedPods?.[pod.metadata.name];
    if (time === undefined || isTerminating(pod)) return [];
    const inMs = parseTime(time) + evictionMs - nowMs;
    return inMs < 0 ? [] : [{ name: pod.metadata.name, time, inMs }];
  });
  const evictedNames = new Set(evicted.map(({ name }) => name));
  const healthy = pods.filter(
    (pod) => !isTerminating(pod) && !evictedNames.has(pod.metadata.name) && isReady(pod),
  );
  const currentHealthy = healthy.length;
  // Without pods nothing is allowed: the first pods may appear before they are counted.
  const disruptionsAllowed = expectedPods > 0 ? Math.max(currentHealthy - desiredHealthy, 0) : 0;
  const disruptedPods = Object.fromEntries(evicted.map(({ name, time }) => [name, time]));
  const status = {
    currentHealthy,
    desiredHealthy,
    disruptionsAllowed,
    expectedPods,
    ...(evicted.length > 0 ? { disruptedPods } : {}),
    observedGeneration: budget.metadata.generation ?? 0,
    conditions: conditionsOf(budget, disruptionsAllowed, nowMs),
  };
  return {
    status,
    recheckInMs: evicted.length > 0 ? Math.min(...evicted.map(({ inMs }) => inMs)) : undefined,
  };
}

function wanted(
  { spec }: PodDisruptionBudget,
  pods: readonly Pod[],
  scaleOf: (pod: Pod) => Scale | undefined,
): { expectedPods: number; desiredHealthy: number } {
  const { minAvailable, maxUnavailable } = spec;
  if (maxUnavailable === undefined && typeof minAvailable === "number")
    return { expectedPods: pods.length, desiredHealthy: minAvailable };
  const expectedPods = expectedScale(pods, scaleOf);
  if (maxUnavailable !== undefined)
    return { expectedPods, desiredHealthy: Math.max(expectedPods - share(maxUnavailable, expectedPods), 0) };
  return { expectedPods, desiredHealthy: share(minAvailable ?? 0, expectedPods) };
}

/** Pods that nobody wants do not count. */
function expectedScale(pods: readonly Pod[], scaleOf: (pod: Pod) => Scale | undefined): number {
  const scales = new Map(
    pods.flatMap((pod) => scaleOf(pod) ?? []).map(({ uid, replicas }) => [uid, replicas]),
  );
  return [...scales.values()].reduce((sum, replicas) => sum + replicas, 0);
}

/** A number, or a percentage, which is rounded up. */
function share(value: number | string, of: number): number {
  if (typeof value === "number") return value;
  const percent = /^(\d+)%$/.exec(value);
  return percent ? Math.ceil((Number(percent[1]) * of) / 100) : 0;
}

function conditionsOf(budget: PodDisruptionBudget, allowed: number, nowMs: number) {
  const others = (budget.status?.conditions ?? []).filter(({ type }) => type !== disruptionAllowed);
  const before = conditionOf(budget, disruptionAllowed);
  const status = allowed > 0 ? ("True" as const) : ("False" as const);
  const lastTransitionTime =
    before?.status === status && before.lastTransitionTime ? before.lastTransitionTime : formatTime(nowMs);
  return [
    ...others,
    {
      type: disruptionAllowed,
      status,
      observedGeneration: budget.metadata.generation ?? 0,
      lastTransitionTime,
      reason: allowed > 0 ? "SufficientPods" : "InsufficientPods",
      message: "",
    },
  ];
}
