/** Label selectors. */
import type { LabelSelector, Labels } from "./objects.ts";

/** Whether the labels match. A selector that is missing matches nothing, an empty one everything. */
export function matchesSelector(selector: LabelSelector | undefined, labels: Labels = {}): boolean {
  if (selector === undefined) return false;
  const { matchLabels = {}, matchExpressions = [] } = selector;
  return (
    Object.entries(matchLabels).every(([key, value]) => labels[key] === value) &&
    matchExpressions.every(({ key, operator, values = [] }) =>
      matchesExpression(labels[key], operator, values),
    )
  );
}

/** One requirement of a label selector or of a node selector. Unknown operators match nothing. */
export function matchesExpression(
  value: string | undefined,
  operator: string,
  values: readonly string[],
): boolean {
  switch (operator) {
    case "In":
      return value !== undefined && values.includes(value);
    case "NotIn":
      return value === undefined || !values.includes(value);
    case "Exists":
      return value !== undefined;
    case "DoesNotExist":
      return value === undefined;
    case "Gt":
    case "Lt": {
      const [limit = ""] = values;
      if (value === undefined || !/^-?\d+$/.test(value) || !/^-?\d+$/.test(limit)) return false;
      return operator === "Gt" ? BigInt(value) > BigInt(limit) : BigInt(value) < BigInt(limit);
    }
    default:
      return false;
  }
}
