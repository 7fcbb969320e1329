/** On which nodes the pods of a DaemonSet run, and how a pod is bound to its node. */
import type { Node, NodeSelectorTerm, Pod, PodTemplate, Toleration } from "../../client/objects.ts";
import type { DaemonSet } from "../../client/workloads.ts";
import { matchesNodeAffinity } from "../../scheduler/node-affinity.ts";
import { isTolerated } from "../../scheduler/taints.ts";

/** A daemon stays on a node that has problems, and starts on one that is cordoned. */
const daemonTolerations: readonly Toleration[] = [
  { key: "node.kubernetes.io/not-ready", operator: "Exists", effect: "NoExecute" },
  { key: "node.kubernetes.io/unreachable", operator: "Exists", effect: "NoExecute" },
  { key: "node.kubernetes.io/disk-pressure", operator: "Exists", effect: "NoSchedule" },
  { key: "node.kubernetes.io/memory-pressure", operator: "Exists", effect: "NoSchedule" },
  { key: "node.kubernetes.io/pid-pressure", operator: "Exists", effect: "NoSchedule" },
  { key: "node.kubernetes.io/unschedulable", operator: "Exists", effect: "NoSchedule" },
];
const hostNetworkToleration: Toleration = {
  key: "node.kubernetes.io/network-unavailable",
  operator: "Exists",
  effect: "NoSchedule",
};

function tolerationsOf({ spec }: PodTemplate): Toleration[] {
  const own = spec.tolerations ?? [];
  const added = spec.hostNetwork ? [...daemonTolerations, hostNetworkToleration] : daemonTolerations;
  const isKnown = (toleration: Toleration) =>
    own.some(({ key, effect }) => key === toleration.key && effect === toleration.effect);
  return [...own, ...added.filter((toleration) => !isKnown(toleration))];
}

/** Whether a pod should start on the node, and whether one that runs there may stay. */
export function eligibility({ spec }: DaemonSet, node: Node): { starts: boolean; stays: boolean } {
  const { template } = spec;
  const { nodeName } = template.spec;
  const pod = { metadata: node.metadata, spec: template.spec } as Pod;
  if ((nodeName && nodeName !== node.metadata.name) || !matchesNodeAffinity(pod, node))
    return { starts: false, stays: false };
  const tolerations = tolerationsOf(template);
  const repelling = (node.spec?.taints ?? []).filter(
    (taint) => taint.effect !== "PreferNoSchedule" && !isTolerated(taint, tolerations),
  );
  const stays = !repelling.some(({ effect }) => effect === "NoExecute");
  return { starts: stays && repelling.length === 0, stays };
}

/** The template of a pod for one node. The scheduler binds it, by a term that only this node matches. */
export function templateFor({ spec }: DaemonSet, nodeName: string): PodTemplate {
  const { template } = spec;
  const { affinity } = template.spec;
  const matchFields = [{ key: "metadata.name", operator: "In", values: [nodeName] }];
  const own = affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution?.nodeSelectorTerms;
  const nodeSelectorTerms: NodeSelectorTerm[] = (own ?? [{}]).map((term) => ({ ...term, matchFields }));
  const nodeAffinity = {
    ...affinity?.nodeAffinity,
    requiredDuringSchedulingIgnoredDuringExecution: { nodeSelectorTerms },
  };
  return {
    ...template,
    spec: {
      ...template.spec,
      affinity: { ...affinity, nodeAffinity },
      tolerations: tolerationsOf(template),
    },
  };
}

/** The node of a pod, also before the scheduler has bound it. */
export function nodeOf({ spec }: Pod): string | undefined {
  if (spec.nodeName) return spec.nodeName;
  const required = spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
  const [field] = required?.nodeSelectorTerms[0]?.matchFields ?? [];
  return field?.key === "metadata.name" ? field.values?.[0] : undefined;
}
