/** Spreads pods evenly over domains, such as nodes or zones. */
import type { LabelSelector, Pod, TopologySpreadConstraint } from "../client/objects.ts";
import { isTerminating } from "../client/pods.ts";
import { matchesSelector } from "../client/selector.ts";
import { matchesNodeAffinity } from "./node-affinity.ts";
import type { NodeInfo, Snapshot } from "./snapshot.ts";
import { isTolerated } from "./taints.ts";

/** Why the pod cannot run on the node, or nothing if it can. */
export function spreadProblem(pod: Pod, info: NodeInfo, snapshot: Snapshot): string | undefined {
  const hard = (pod.spec.topologySpreadConstraints ?? []).filter(
    ({ whenUnsatisfiable }) => whenUnsatisfiable !== "ScheduleAnyway",
  );
  const keys = hard.map(({ topologyKey }) => topologyKey);
  for (const constraint of hard) {
    const domain = info.node.metadata.labels?.[constraint.topologyKey];
    if (domain === undefined)
      return "node(s) didn't match pod topology spread constraints (missing required label)";
    const counts = countsOf(constraint, pod, snapshot, keys);
    const isFew = counts.size < (constraint.minDomains ?? 1);
    const least = isFew ? 0 : Math.min(...counts.values());
    const self = matchesSelector(selectorOf(constraint, pod), pod.metadata.labels) ? 1 : 0;
    if ((counts.get(domain) ?? 0) + self - least > constraint.maxSkew)
      return "node(s) didn't match pod topology spread constraints";
  }
  return undefined;
}

/** How many matching pods are in the node's domains, for the constraints that are only preferences. Fewer is better. */
export function spreadCrowding(pod: Pod, info: NodeInfo, snapshot: Snapshot): number {
  return (pod.spec.topologySpreadConstraints ?? [])
    .filter(({ whenUnsatisfiable }) => whenUnsatisfiable === "ScheduleAnyway")
    .reduce((sum, constraint) => {
      const domain = info.node.metadata.labels?.[constraint.topologyKey] ?? "";
      return sum + (countsOf(constraint, pod, snapshot, [constraint.topologyKey]).get(domain) ?? 0);
    }, 0);
}

/** Matching pods by domain. Only nodes that the pod could use, and that have all keys, count. */
function countsOf(
  constraint: TopologySpreadConstraint,
  pod: Pod,
  { nodes }: Snapshot,
  keys: readonly string[],
): Map<string, number> {
  const counts = new Map<string, number>();
  const selector = selectorOf(constraint, pod);
  for (const { node, pods } of nodes) {
    const labels = node.metadata.labels ?? {};
    const domain = labels[constraint.topologyKey];
    if (domain === undefined || keys.some((key) => labels[key] === undefined)) continue;
    if (constraint.nodeAffinityPolicy !== "Ignore" && !matchesNodeAffinity(pod, node)) continue;
    const taints = (node.spec?.taints ?? []).filter(({ effect }) => effect !== "PreferNoSchedule");
    const isRepelled = taints.some((taint) => !isTolerated(taint, pod.spec.tolerations));
    if (constraint.nodeTaintsPolicy === "Honor" && isRepelled) continue;
    const matching = pods.filter(
      (other) =>
        other.metadata.namespace === pod.metadata.namespace &&
        !isTerminating(other) &&
        matchesSelector(selector, other.metadata.labels),
    );
    counts.set(domain, (counts.get(domain) ?? 0) + matching.length);
  }
  return counts;
}

function selectorOf(
  { labelSelector, matchLabelKeys = [] }: TopologySpreadConstraint,
  pod: Pod,
): LabelSelector {
  const labels = pod.metadata.labels ?? {};
  const expressions = matchLabelKeys
    .filter((key) => labels[key] !== undefined)
    .map((key) => ({ key, operator: "In", values: [labels[key] as string] }));
  return { ...labelSelector, matchExpressions: [...(labelSelector?.matchExpressions ?? []), ...expressions] };
}
