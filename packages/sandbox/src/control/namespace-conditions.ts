/** The conditions of a namespace that is being deleted. They say what holds it, in the words of Kubernetes. */
import { section } from "../objects/kind.ts";
import type { ApiObject, JsonObject } from "../objects/object.ts";
import { formatTime } from "../objects/time.ts";
import type { Platform } from "../platform.ts";
import type { Decision } from "../store/types.ts";

/** An object that is not gone yet. */
export interface Left {
  /** For example deployments.apps. */
  readonly resource: string;
  readonly finalizers: readonly string[];
}

interface Facts {
  readonly type: string;
  readonly isTrue: boolean;
  readonly reason: string;
  readonly message: string;
}

/** Undefined if nothing changes. */
export function withConditions(namespace: ApiObject, left: readonly Left[], platform: Platform): Decision {
  const status = section(namespace, "status") as { conditions?: JsonObject[] };
  const before = status.conditions ?? [];
  const lastTransitionTime = formatTime(platform.clock.now().wallMs);
  const conditions = factsOf(left).map(({ type, isTrue, reason, message }) => {
    const is = isTrue ? "True" : "False";
    const known = before.find((condition) => condition.type === type);
    const time = known?.status === is ? known.lastTransitionTime : lastTransitionTime;
    return { type, status: is, lastTransitionTime: time, reason, message };
  });
  if (JSON.stringify(conditions) === JSON.stringify(before)) return undefined;
  return { ...namespace, status: { ...status, conditions } };
}

function factsOf(left: readonly Left[]): Facts[] {
  const resources = countsOf(left.map(({ resource }) => resource));
  const finalizers = countsOf(left.flatMap((each) => each.finalizers));
  const fine = (type: string, reason: string, message: string) => ({ type, isTrue: false, reason, message });
  return [
    fine("NamespaceDeletionDiscoveryFailure", "ResourcesDiscovered", "All resources successfully discovered"),
    fine(
      "NamespaceDeletionGroupVersionParsingFailure",
      "ParsedGroupVersions",
      "All legacy kube types successfully parsed",
    ),
    fine(
      "NamespaceDeletionContentFailure",
      "ContentDeleted",
      "All content successfully deleted, may be waiting on finalization",
    ),
    {
      type: "NamespaceContentRemaining",
      isTrue: true,
      reason: "SomeResourcesRemain",
      message: `Some resources are remaining: ${list(resources, (name, count) => `${name} has ${count} resource instances`)}`,
    },
    finalizers.size === 0
      ? fine(
          "NamespaceFinalizersRemaining",
          "ContentHasNoFinalizers",
          "All content-preserving finalizers finished",
        )
      : {
          type: "NamespaceFinalizersRemaining",
          isTrue: true,
          reason: "SomeFinalizersRemain",
          message: `Some content in the namespace has finalizers remaining: ${list(finalizers, (name, count) => `${name} in ${count} resource instances`)}`,
        },
  ];
}

function countsOf(names: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>();
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
  return counts;
}

const list = (counts: ReadonlyMap<string, number>, text: (name: string, count: number) => string) =>
  [...counts]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, count]) => text(name, count))
    .join(", ");
