/**
 * The rights that a replica needs, and no more: those for the election and those for the traffic mode. A test removes each
 * verb in turn and checks that something stops working.
 */
import { endpointSliceRules, leaderConfigMapRules, podLabelRules } from "@tenure/traffic";
import { configMapName, sliceName } from "./names.ts";
import type { CheckedOptions } from "./options.ts";

export interface Rule {
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly resourceNames?: readonly string[];
  readonly verbs: readonly string[];
}

export function rulesFor(options: CheckedOptions): Rule[] {
  return [...leaseRules(options), ...trafficRules(options)];
}

function leaseRules({ name, register }: CheckedOptions): Rule[] {
  return [
    rule("coordination.k8s.io", "leases", ["create"]),
    rule("coordination.k8s.io", "leases", ["get", "update", "watch"], [name]),
    // RBAC cannot restrict these to the Leases of candidates, whose names are not known in advance.
    ...(register ? [rule("coordination.k8s.io", "leases", ["list", "patch", "delete"])] : []),
  ];
}

function trafficRules(options: CheckedOptions): Rule[] {
  switch (options.traffic) {
    case "none":
    case "ready-file":
      return [];
    case "label":
      return podLabelRules() as Rule[];
    case "endpointslice":
      return endpointSliceRules({ service: options.name, name: sliceName(options) }) as Rule[];
    case "configmap":
      // The ConfigMap is one of the manifests, so the leader needs no right to create it.
      return (leaderConfigMapRules({ name: configMapName(options) }) as Rule[]).filter(
        (needed) => needed.resourceNames,
      );
  }
}

function rule(group: string, resource: string, verbs: string[], resourceNames?: string[]): Rule {
  return { apiGroups: [group], resources: [resource], ...(resourceNames && { resourceNames }), verbs };
}
