/** Where objects of the kinds that manifests are made of live in the API. */
import type { Body } from "../../conformance/target.ts";

const plurals: Readonly<Record<string, string>> = {
  ConfigMap: "configmaps",
  Deployment: "deployments",
  PodDisruptionBudget: "poddisruptionbudgets",
  Role: "roles",
  RoleBinding: "rolebindings",
  Service: "services",
  ServiceAccount: "serviceaccounts",
};

export function collectionOf({ apiVersion, kind, metadata }: Body): string {
  const plural = plurals[kind];
  if (!plural) throw new Error(`no plural is known for ${kind}`);
  const root = apiVersion.includes("/") ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
  return `${root}/namespaces/${metadata.namespace}/${plural}`;
}

/** The sandbox has no disruption budgets: nobody evicts there. A real kube-apiserver is asked for all. */
export function known(objects: readonly Body[], isSandbox: boolean): Body[] {
  return objects.filter(({ kind }) => !isSandbox || kind !== "PodDisruptionBudget");
}

/** Objects by what tells them apart: their order is a matter of the tool that printed them. */
export function byName(objects: readonly Body[]): Record<string, Body> {
  return Object.fromEntries(objects.map((object) => [`${object.kind}/${object.metadata.name}`, object]));
}
