/** Pods that want to be near other pods, or away from them. */
import type { LabelSelector, Labels, Pod, PodAffinityTerm } from "../client/objects.ts";
import { isTerminating } from "../client/pods.ts";
import { matchesSelector } from "../client/selector.ts";
import type { NodeInfo, Snapshot } from "./snapshot.ts";

/** Why the pod cannot run on the node, or nothing if it can. */
export function podAffinityProblem(pod: Pod, info: NodeInfo, snapshot: Snapshot): string | undefined {
  const { podAffinity, podAntiAffinity } = pod.spec.affinity ?? {};
  for (const term of podAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? []) {
    if (!satisfiesAffinity(term, pod, info, snapshot)) return "node(s) didn't match pod affinity rules";
  }
  for (const term of podAntiAffinity?.requiredDuringSchedulingIgnoredDuringExecution ?? []) {
    if (podsInDomain(term, pod, info, snapshot).length > 0)
      return "node(s) didn't match pod anti-affinity rules";
  }
  if (violatesExisting(pod, info, snapshot))
    return "node(s) didn't satisfy existing pods anti-affinity rules";
  return undefined;
}

/** How much the pod prefers the node, by its own preferences and by those of the pods that run already. */
export function podAffinityScore(pod: Pod, info: NodeInfo, snapshot: Snapshot): number {
  const { podAffinity, podAntiAffinity } = pod.spec.affinity ?? {};
  let score = 0;
  for (const { weight, podAffinityTerm } of podAffinity?.preferredDuringSchedulingIgnoredDuringExecution ??
    [])
    score += weight * podsInDomain(podAffinityTerm, pod, info, snapshot).length;
  for (const {
    weight,
    podAffinityTerm,
  } of podAntiAffinity?.preferredDuringSchedulingIgnoredDuringExecution ?? [])
    score -= weight * podsInDomain(podAffinityTerm, pod, info, snapshot).length;
  return score;
}

/** A term that no pod satisfies yet is satisfied by the pod itself, or the first of a group could never run. */
function satisfiesAffinity(term: PodAffinityTerm, pod: Pod, info: NodeInfo, snapshot: Snapshot): boolean {
  if (info.node.metadata.labels?.[term.topologyKey] === undefined) return false;
  if (podsInDomain(term, pod, info, snapshot).length > 0) return true;
  const isFirst = !snapshot.nodes.some(
    (other) =>
      other.node.metadata.labels?.[term.topologyKey] !== undefined &&
      other.pods.some((candidate) => selects(term, pod, candidate, snapshot)),
  );
  return isFirst && selects(term, pod, pod, snapshot);
}

/** The pods that the term selects in the domain of the node. */
function podsInDomain(term: PodAffinityTerm, pod: Pod, info: NodeInfo, snapshot: Snapshot): Pod[] {
  const domain = info.node.metadata.labels?.[term.topologyKey];
  if (domain === undefined) return [];
  return snapshot.nodes
    .filter(({ node }) => node.metadata.labels?.[term.topologyKey] === domain)
    .flatMap(({ pods }) => pods.filter((candidate) => selects(term, pod, candidate, snapshot)));
}

/** Whether a pod in the domain of the node refuses this pod. */
function violatesExisting(pod: Pod, info: NodeInfo, snapshot: Snapshot): boolean {
  return snapshot.nodes.some((other) =>
    other.pods.some((existing) => {
      const terms = existing.spec.affinity?.podAntiAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
      return terms?.some((term) => {
        const domain = other.node.metadata.labels?.[term.topologyKey];
        const isSame = domain !== undefined && info.node.metadata.labels?.[term.topologyKey] === domain;
        return isSame && selects(term, existing, pod, snapshot);
      });
    }),
  );
}

function selects(term: PodAffinityTerm, owner: Pod, candidate: Pod, { namespaces }: Snapshot): boolean {
  if (candidate !== owner && isTerminating(candidate)) return false;
  const namespace = candidate.metadata.namespace ?? "";
  const isListed =
    term.namespaces?.length || term.namespaceSelector
      ? term.namespaces?.includes(namespace) ||
        matchesSelector(term.namespaceSelector, namespaces.get(namespace))
      : namespace === owner.metadata.namespace;
  return !!isListed && matchesSelector(withLabelKeys(term, owner.metadata.labels), candidate.metadata.labels);
}

/** The API server has merged these keys into the selector already, if it knows them. Doing it again changes nothing. */
function withLabelKeys(
  { labelSelector, matchLabelKeys = [], mismatchLabelKeys = [] }: PodAffinityTerm,
  labels: Labels = {},
): LabelSelector | undefined {
  if (!labelSelector) return undefined;
  const expressions = [
    ...matchLabelKeys.map((key) => ({ key, operator: "In" })),
    ...mismatchLabelKeys.map((key) => ({ key, operator: "NotIn" })),
  ].flatMap(({ key, operator }) =>
    labels[key] === undefined ? [] : [{ key, operator, values: [labels[key]] }],
  );
  return { ...labelSelector, matchExpressions: [...(labelSelector.matchExpressions ?? []), ...expressions] };
}
