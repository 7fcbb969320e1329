/** The API paths of the kinds in the manifests. */
import type { Body } from "../../conformance/target.ts";

const plurals: Readonly<Record<string, string>> = {
  ConfigMap: "configmaps",
  Deployment: "deployments",
  Lease: "leases",
  NetworkPolicy: "networkpolicies",
  PodDisruptionBudget: "poddisruptionbudgets",
  Role: "roles",
  RoleBinding: "rolebindings",
  Service: "services",
  ServiceAccount: "serviceaccounts",
  ValidatingAdmissionPolicy: "validatingadmissionpolicies",
  ValidatingAdmissionPolicyBinding: "validatingadmissionpolicybindings",
};

export function collectionOf({ apiVersion, kind, metadata }: Body): string {
  const plural = plurals[kind];
  if (!plural) throw new Error(`no plural is known for ${kind}`);
  const root = apiVersion.includes("/") ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
  return metadata.namespace === undefined
    ? `${root}/${plural}`
    : `${root}/namespaces/${metadata.namespace}/${plural}`;
}

/** Objects by kind and name, because their order depends on the tool that printed them. */
export function byName(objects: readonly Body[]): Record<string, Body> {
  return Object.fromEntries(objects.map((object) => [`${object.kind}/${object.metadata.name}`, object]));
}
