/** Whether a pod can run on a node, and if not, why: in the words of Kubernetes. */
import type { Pod } from "../client/objects.ts";
import { hasPortConflict } from "./host-ports.ts";
import { matchesNodeAffinity } from "./node-affinity.ts";
import { podAffinityProblem } from "./pod-affinity.ts";
import { podRequests } from "./requests.ts";
import type { NodeInfo, Snapshot } from "./snapshot.ts";
import { isTolerated } from "./taints.ts";
import { spreadProblem } from "./topology-spread.ts";

const unschedulableTaint = { key: "node.kubernetes.io/unschedulable", effect: "NoSchedule" };

type Filter = (pod: Pod, info: NodeInfo, snapshot: Snapshot) => readonly string[];

/** In the order of Kubernetes: only the first that objects gives reasons. */
const filters: readonly Filter[] = [
  ({ spec }, { node }) =>
    node.spec?.unschedulable && !isTolerated(unschedulableTaint, spec.tolerations)
      ? ["node(s) were unschedulable"]
      : [],
  ({ spec }, { node }) => {
    const repels = (node.spec?.taints ?? []).find(
      (taint) => taint.effect !== "PreferNoSchedule" && !isTolerated(taint, spec.tolerations),
    );
    return repels ? ["node(s) had untolerated taint(s)"] : [];
  },
  (pod, { node }) =>
    matchesNodeAffinity(pod, node) ? [] : ["node(s) didn't match Pod's node affinity/selector"],
  (pod, { pods }) =>
    hasPortConflict(pod, pods) ? ["node(s) didn't have free ports for the requested pod ports"] : [],
  resourceProblems,
  (pod, info, snapshot) => listOf(spreadProblem(pod, info, snapshot)),
  (pod, info, snapshot) => listOf(podAffinityProblem(pod, info, snapshot)),
];

/** The reasons why the pod cannot run on the node. Empty if it can. */
export function problemsOf(pod: Pod, info: NodeInfo, snapshot: Snapshot): readonly string[] {
  for (const filter of filters) {
    const reasons = filter(pod, info, snapshot);
    if (reasons.length > 0) return reasons;
  }
  return [];
}

function resourceProblems(pod: Pod, { pods, requested, allocatable }: NodeInfo): string[] {
  const mostPods = (allocatable.get("pods") ?? 0) / 1000;
  const problems = pods.length + 1 > mostPods ? ["Too many pods"] : [];
  for (const [name, amount] of podRequests(pod)) {
    const free = (allocatable.get(name) ?? 0) - (requested.get(name) ?? 0);
    if (amount > 0 && amount > free) problems.push(`Insufficient ${name}`);
  }
  return problems;
}

function listOf(reason: string | undefined): string[] {
  return reason === undefined ? [] : [reason];
}
