/** All resources in the order and the shape in which discovery names them. */

import { reviews } from "../registry/reviews.ts";
import { subresources } from "../registry/subresources.ts";
import { type Kind, apiVersion as versionOf } from "./kind.ts";
import { kinds } from "./kinds.ts";
import { quote } from "./quote.ts";
import { metaPrefix } from "./schema.ts";
import { badRequest } from "./status.ts";

export interface DiscoveredSubresource {
  name: string;
  kind: { group: string; version: string; kind: string };
  verbs: string[];
}

export interface DiscoveredResource {
  group: string;
  version: string;
  kind: string;
  plural: string;
  singular: string;
  namespaced: boolean;
  shortNames?: string[];
  categories?: string[];
  verbs: string[];
  subresources: DiscoveredSubresource[];
  /** Undefined for resources that are not stored. */
  stored: Kind | undefined;
  type: string;
}

const allVerbs = ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"];

function fromKind(kind: Kind): DiscoveredResource {
  const own = subresources
    .filter(({ of }) => of === kind)
    .map(({ name, kind: carried, verbs }) => ({ name, kind: carried, verbs: Object.keys(verbs).sort() }));
  const status = { name: "status", kind, verbs: ["get", "patch", "update"] };
  return {
    ...kind,
    verbs: kind.plural === "namespaces" ? allVerbs.filter((verb) => verb !== "deletecollection") : allVerbs,
    subresources: [...own, ...(kind.status ? [status] : [])],
    stored: kind,
  };
}

export const resources: readonly DiscoveredResource[] = [
  ...kinds.map(fromKind),
  ...reviews.map(({ group, kind, plural, namespaced, type }) => ({
    group,
    version: "v1",
    kind,
    plural,
    singular: kind.toLowerCase(),
    namespaced,
    verbs: ["create"],
    subresources: [],
    stored: undefined,
    type,
  })),
].sort((a, b) => (a.plural < b.plural ? -1 : 1));

/** In the order of preference, which decides what a short name means. */
export const groupVersions: readonly { group: string; versions: string[] }[] = [
  { group: "", versions: ["v1"] },
  { group: "apps", versions: ["v1"] },
  { group: "events.k8s.io", versions: ["v1"] },
  { group: "authentication.k8s.io", versions: ["v1"] },
  { group: "authorization.k8s.io", versions: ["v1"] },
  { group: "rbac.authorization.k8s.io", versions: ["v1"] },
  { group: "coordination.k8s.io", versions: ["v1", "v1beta1"] },
  { group: "discovery.k8s.io", versions: ["v1"] },
];

export const resourcesOf = (group: string, version: string) =>
  resources.filter((resource) => resource.group === group && resource.version === version);

export function isKnownType(apiVersion: string, kind: string): boolean {
  return resources.some((resource) => versionOf(resource) === apiVersion && resource.kind === kind);
}

export const notRegistered = (apiVersion: string, kind: string) =>
  `no kind ${quote(kind)} is registered for version ${quote(apiVersion)} in scheme "pkg/runtime/scheme.go:111"`;

/** The type of what a client sends, by what it says it is. */
export function typeOf(apiVersion: string, kind: string): string {
  const found = resources.find((resource) => versionOf(resource) === apiVersion && resource.kind === kind);
  if (found) return found.type;
  if (kind === "DeleteOptions") return `${metaPrefix}DeleteOptions`;
  const carried = subresources.find(({ kind: of }) => versionOf(of) === apiVersion && of.kind === kind);
  if (carried) return carriedTypes[kind] as string;
  throw badRequest(notRegistered(apiVersion, kind));
}

/** Types of what subresources carry. */
const carriedTypes: Record<string, string> = {
  TokenRequest: "api.authentication.v1.TokenRequest",
  Binding: "api.core.v1.Binding",
  Scale: "api.autoscaling.v1.Scale",
};
