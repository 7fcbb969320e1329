/** Where a pod runs, or why it cannot run anywhere. */
import type { Pod } from "../client/objects.ts";
import { problemsOf } from "./filter.ts";
import { bestNode } from "./score.ts";
import type { Snapshot } from "./snapshot.ts";

export type Decision = { readonly node: string } | { readonly message: string };

/** @param random a number in [0, 1), to choose among equal nodes */
export function decideNode(pod: Pod, snapshot: Snapshot, random: number): Decision {
  if (snapshot.nodes.length === 0) return { message: "no nodes available to schedule pods" };
  const judged = snapshot.nodes.map((info) => ({ info, problems: problemsOf(pod, info, snapshot) }));
  const feasible = judged.filter(({ problems }) => problems.length === 0).map(({ info }) => info);
  const best = bestNode(pod, feasible, snapshot, random);
  if (best) return { node: best.node.metadata.name };
  return { message: describe(judged.map(({ problems }) => problems)) };
}

/** `0/3 nodes are available: 1 Insufficient cpu, 2 node(s) were unschedulable.` */
function describe(perNode: readonly (readonly string[])[]): string {
  const counts = new Map<string, number>();
  for (const reason of perNode.flat()) counts.set(reason, (counts.get(reason) ?? 0) + 1);
  const reasons = [...counts].map(([reason, count]) => `${count} ${reason}`).sort();
  return `0/${perNode.length} nodes are available: ${reasons.join(", ")}.`;
}
