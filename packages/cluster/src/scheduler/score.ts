/** Which of the nodes that can run a pod suits it best. */
import type { Pod } from "../client/objects.ts";
import { controllerOf } from "../client/owner.ts";
import { matchesTerm } from "./node-affinity.ts";
import { podAffinityScore } from "./pod-affinity.ts";
import { podRequests } from "./requests.ts";
import type { NodeInfo, Snapshot } from "./snapshot.ts";
import { isTolerated } from "./taints.ts";
import { spreadCrowding } from "./topology-spread.ts";

interface Scorer {
  /** The weights of Kubernetes. */
  readonly weight: number;
  readonly score: (pod: Pod, info: NodeInfo, snapshot: Snapshot) => number;
  /** Whether scores are stretched to 0–100, or turned around first because fewer is better. */
  readonly scale: "none" | "stretch" | "turn";
}

const full = 100;
/** Pods without requests still take something. */
const defaultRequests = new Map([
  ["cpu", 100],
  ["memory", 200 * 2 ** 20 * 1000],
]);

const scorers: readonly Scorer[] = [
  { weight: 1, scale: "none", score: leastAllocated },
  { weight: 1, scale: "none", score: balancedAllocation },
  { weight: 2, scale: "stretch", score: nodePreference },
  { weight: 3, scale: "turn", score: mildTaints },
  { weight: 2, scale: "turn", score: spreadCrowding },
  { weight: 2, scale: "turn", score: siblings },
  { weight: 2, scale: "stretch", score: podAffinityScore },
];

/** The best of the nodes. @param random a number in [0, 1), to choose among equals */
export function bestNode(
  pod: Pod,
  candidates: readonly NodeInfo[],
  snapshot: Snapshot,
  random: number,
): NodeInfo | undefined {
  const totals = candidates.map(() => 0);
  for (const { weight, score, scale } of scorers) {
    const raw = candidates.map((info) => score(pod, info, snapshot));
    scaled(raw, scale).forEach((value, index) => {
      totals[index] = (totals[index] ?? 0) + weight * value;
    });
  }
  const most = Math.max(...totals);
  const best = candidates.filter((_, index) => totals[index] === most);
  return best[Math.floor(random * best.length)];
}

function scaled(scores: readonly number[], scale: Scorer["scale"]): readonly number[] {
  if (scale === "none") return scores;
  const [least, most] = [Math.min(...scores), Math.max(...scores)];
  if (least === most) return scores.map(() => 0);
  return scores.map((score) => (full * (scale === "turn" ? most - score : score - least)) / (most - least));
}

/** What is free after the pod, as a fraction, for each of cpu and memory. */
function freeFractions(pod: Pod, { pods, allocatable }: NodeInfo): number[] {
  return [...defaultRequests.keys()].flatMap((name) => {
    const total = allocatable.get(name) ?? 0;
    if (total === 0) return [];
    const used = [...pods, pod].reduce((sum, each) => sum + requestFor(each, name), 0);
    return [Math.max(total - used, 0) / total];
  });
}

function requestFor(pod: Pod, name: string): number {
  return podRequests(pod).get(name) || (defaultRequests.get(name) ?? 0);
}

function leastAllocated(pod: Pod, info: NodeInfo): number {
  const free = freeFractions(pod, info);
  return free.length === 0 ? 0 : Math.floor((full * free.reduce((a, b) => a + b, 0)) / free.length);
}

function balancedAllocation(pod: Pod, info: NodeInfo): number {
  const [cpu, memory] = freeFractions(pod, info);
  return cpu === undefined || memory === undefined
    ? full
    : Math.floor(full * (1 - Math.abs(cpu - memory) / 2));
}

function nodePreference({ spec }: Pod, { node }: NodeInfo): number {
  const preferred = spec.affinity?.nodeAffinity?.preferredDuringSchedulingIgnoredDuringExecution ?? [];
  return preferred.reduce(
    (sum, { weight, preference }) => sum + (matchesTerm(preference, node) ? weight : 0),
    0,
  );
}

/** Taints that only advise against the node. */
function mildTaints({ spec }: Pod, { node }: NodeInfo): number {
  return (node.spec?.taints ?? []).filter(
    (taint) => taint.effect === "PreferNoSchedule" && !isTolerated(taint, spec.tolerations),
  ).length;
}

/** Pods of the same controller are spread over the nodes, unless the pod says how. */
function siblings(pod: Pod, { pods }: NodeInfo): number {
  const owner = controllerOf(pod)?.uid;
  if (owner === undefined || pod.spec.topologySpreadConstraints?.length) return 0;
  return pods.filter((other) => controllerOf(other)?.uid === owner && !other.metadata.deletionTimestamp)
    .length;
}
