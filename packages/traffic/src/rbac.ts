/** The rights that each gate needs and no more, as data: for manifests to grant and for a doctor to ask about. */
import type { RbacRule } from "@tenure/kube/internal";
import { defaultSliceName } from "./gates/endpoint-slice.ts";
import { defaultConfigMap } from "./gates/leader-config-map.ts";

/** Pods are labelled by their successors too, whose names nobody knows: these cannot be limited to a name. */
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
    // A new object has no name yet when it is authorized.
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
