/**
 * The rights of a replica, and no more: what the election asks for, and what the way of traffic adds to it. A test takes
 * each verb away in turn, and sees that something stops working.
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

function leaseRules({ name }: CheckedOptions): Rule[] {
  return [
    rule("coordination.k8s.io", "leases", ["create"]),
    rule("coordination.k8s.io", "leases", ["get", "update", "watch"], [name]),
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
      // The ConfigMap is one of the manifests, so nobody needs the right to create some.
      return (leaderConfigMapRules({ name: configMapName(options) }) as Rule[]).filter(
        (needed) => needed.resourceNames,
      );
  }
}

function rule(group: string, resource: string, verbs: string[], resourceNames?: string[]): Rule {
  return { apiGroups: [group], resources: [resource], ...(resourceNames && { resourceNames }), verbs };
}
