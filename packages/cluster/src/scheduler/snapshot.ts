/** What the scheduler decides on: the nodes, and the pods on each. */
import type { Labels, Node, Pod } from "../client/objects.ts";
import { isFinished } from "../client/pods.ts";
import { type Amounts, addTo, amountsOf, podRequests } from "./requests.ts";

export interface NodeInfo {
  readonly node: Node;
  readonly pods: readonly Pod[];
  readonly requested: Amounts;
  readonly allocatable: Amounts;
}

export interface Snapshot {
  readonly nodes: readonly NodeInfo[];
  /** The labels of all namespaces, for affinity terms that select namespaces. */
  readonly namespaces: ReadonlyMap<string, Labels>;
}

/** @param assumed the nodes of pods whose binding is not visible yet, by uid */
export function takeSnapshot(
  nodes: readonly Node[],
  pods: readonly Pod[],
  namespaces: ReadonlyMap<string, Labels>,
  assumed: ReadonlyMap<string, string>,
): Snapshot {
  const perNode = new Map<string, Pod[]>();
  for (const pod of pods) {
    const node = pod.spec.nodeName || assumed.get(pod.metadata.uid);
    if (!node || isFinished(pod)) continue;
    const others = perNode.get(node);
    if (others) others.push(pod);
    else perNode.set(node, [pod]);
  }
  const infos = nodes
    .filter(({ metadata }) => !metadata.deletionTimestamp)
    .map((node): NodeInfo => {
      const own = perNode.get(node.metadata.name) ?? [];
      const requested = new Map<string, number>();
      for (const pod of own) addTo(requested, podRequests(pod));
      return { node, pods: own, requested, allocatable: amountsOf(node.status?.allocatable) };
    });
  return { nodes: infos, namespaces };
}
