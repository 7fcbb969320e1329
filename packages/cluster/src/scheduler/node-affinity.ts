/** Whether a node has the labels that a pod wants. */
import type { Node, NodeSelectorTerm, Pod } from "../client/objects.ts";
import { matchesExpression } from "../client/selector.ts";

export function matchesNodeAffinity({ spec }: Pod, node: Node): boolean {
  const labels = node.metadata.labels ?? {};
  const wanted = Object.entries(spec.nodeSelector ?? {});
  if (!wanted.every(([key, value]) => labels[key] === value)) return false;
  const required = spec.affinity?.nodeAffinity?.requiredDuringSchedulingIgnoredDuringExecution;
  return !required || required.nodeSelectorTerms.some((term) => matchesTerm(term, node));
}

/** An empty term matches nothing. */
export function matchesTerm(
  { matchExpressions = [], matchFields = [] }: NodeSelectorTerm,
  { metadata }: Node,
): boolean {
  if (matchExpressions.length + matchFields.length === 0) return false;
  const fields: Readonly<Record<string, string>> = { "metadata.name": metadata.name };
  return (
    matchExpressions.every(({ key, operator, values = [] }) =>
      matchesExpression(metadata.labels?.[key], operator, values),
    ) &&
    matchFields.every(({ key, operator, values = [] }) => matchesExpression(fields[key], operator, values))
  );
}
