/** The RBAC rules that each gate needs, and no more: `tenure manifests` grants them, `tenure doctor` checks them. */
import type { RbacRule } from "@tenure/kube/internal";
import { defaultSliceName } from "./gates/endpoint-slice.ts";
import { defaultConfigMap } from "./gates/leader-config-map.ts";

/** A leader also labels the other pods, and their names are not known in advance, so no rule can name the pods. */
export function podLabelRules(): RbacRule[] {
  return [{ apiGroups: [""], resources: ["pods"], verbs: ["get", "list", "patch"] }];
}

export function endpointSliceRules({
  service,
  name = defaultSliceName(service),
}: {
  readonly service: string;
  readonly name?: string;
}): RbacRule[] {
  const slices = { apiGroups: ["discovery.k8s.io"], resources: ["endpointslices"] };
  return [
    { apiGroups: [""], resources: ["services"], resourceNames: [service], verbs: ["get"] },
    // RBAC cannot limit create to a name.
    { ...slices, verbs: ["create"] },
    { ...slices, resourceNames: [name], verbs: ["get", "update"] },
  ];
}

export function leaderConfigMapRules({
  name = defaultConfigMap,
}: {
  readonly name?: string;
} = {}): RbacRule[] {
  const configMaps = { apiGroups: [""], resources: ["configmaps"] };
  return [
    { ...configMaps, verbs: ["create"] },
    { ...configMaps, resourceNames: [name], verbs: ["get", "update"] },
  ];
}

export function followConfigMapRules({
  name = defaultConfigMap,
}: {
  readonly name?: string;
} = {}): RbacRule[] {
  return [{ apiGroups: [""], resources: ["configmaps"], resourceNames: [name], verbs: ["get", "watch"] }];
}
