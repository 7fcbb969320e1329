/**
 * All resources that the API serves: stored kinds, their subresources, and reviews. Data only; registry/ holds the
 * handlers.
 */
import { apiVersion as apiVersionOf, type Kind } from "./kind.ts";
import { certificateSigningRequest } from "./kinds/cluster.ts";
import { serviceAccount } from "./kinds/config.ts";
import { namespace } from "./kinds/namespace.ts";
import { pod } from "./kinds/pod.ts";
import { replicationController } from "./kinds/replication.ts";
import { deployment, replicaSet, statefulSet } from "./kinds/workload.ts";
import { kinds } from "./kinds.ts";
import { quote } from "./quote.ts";
import { metaPrefix } from "./schema.ts";
import { badRequest } from "./status.ts";

interface GroupVersionKind {
  group: string;
  version: string;
  kind: string;
}

/** A subresource other than status. */
export interface Subresource {
  of: Kind;
  name:
    | "approval"
    | "attach"
    | "binding"
    | "eviction"
    | "exec"
    | "finalize"
    | "log"
    | "portforward"
    | "proxy"
    | "scale"
    | "token";
  /** The kind of the request body. */
  kind: GroupVersionKind;
  /** The name of that kind's type in gen/types.json. */
  type: string;
  /** In alphabetical order, as discovery lists them. */
  verbs: readonly string[];
}

const scale = {
  name: "scale",
  kind: { group: "autoscaling", version: "v1", kind: "Scale" },
  type: "api.autoscaling.v1.Scale",
  verbs: ["get", "patch", "update"],
} as const;

export const subresources: readonly Subresource[] = [
  {
    of: serviceAccount,
    name: "token",
    kind: { group: "authentication.k8s.io", version: "v1", kind: "TokenRequest" },
    type: "api.authentication.v1.TokenRequest",
    verbs: ["create"],
  },
  {
    of: namespace,
    name: "finalize",
    kind: { group: "", version: "v1", kind: "Namespace" },
    type: namespace.type,
    verbs: ["update"],
  },
  connection("attach", "PodAttachOptions"),
  {
    of: pod,
    name: "binding",
    kind: { group: "", version: "v1", kind: "Binding" },
    type: "api.core.v1.Binding",
    verbs: ["create"],
  },
  {
    of: pod,
    name: "eviction",
    kind: { group: "policy", version: "v1", kind: "Eviction" },
    type: "api.policy.v1.Eviction",
    verbs: ["create"],
  },
  connection("exec", "PodExecOptions"),
  { of: pod, name: "log", kind: { group: "", version: "v1", kind: "Pod" }, type: pod.type, verbs: ["get"] },
  connection("portforward", "PodPortForwardOptions"),
  {
    ...connection("proxy", "PodProxyOptions"),
    verbs: ["create", "delete", "get", "patch", "update"],
  },
  {
    of: certificateSigningRequest,
    name: "approval",
    kind: certificateSigningRequest,
    type: certificateSigningRequest.type,
    verbs: ["get", "patch", "update"],
  },
  { ...scale, of: deployment },
  { ...scale, of: replicaSet },
  { ...scale, of: replicationController },
  { ...scale, of: statefulSet },
];

/** A connection between a client and a container. The options are in the query, so there is no body. */
function connection(name: "attach" | "exec" | "portforward" | "proxy", kind: string): Subresource {
  const options = { group: "", version: "v1", kind };
  return { of: pod, name, kind: options, type: `api.core.v1.${kind}`, verbs: ["create", "get"] };
}

/** A resource that asks a question about access. The API answers it and stores nothing. */
export interface ReviewKind extends GroupVersionKind {
  kind:
    | "LocalSubjectAccessReview"
    | "SelfSubjectAccessReview"
    | "SelfSubjectReview"
    | "SelfSubjectRulesReview"
    | "SubjectAccessReview"
    | "TokenReview";
  plural: string;
  namespaced: boolean;
  type: string;
}

function review(area: string, kind: ReviewKind["kind"], namespaced = false): ReviewKind {
  const plural = `${kind.toLowerCase()}s`;
  return { group: `${area}.k8s.io`, version: "v1", kind, plural, namespaced, type: `api.${area}.v1.${kind}` };
}

export const reviewKinds: readonly ReviewKind[] = [
  review("authentication", "TokenReview"),
  review("authentication", "SelfSubjectReview"),
  review("authorization", "LocalSubjectAccessReview", true),
  review("authorization", "SelfSubjectAccessReview"),
  review("authorization", "SelfSubjectRulesReview"),
  review("authorization", "SubjectAccessReview"),
];

/** A resource as discovery lists it. */
export interface DiscoveredResource extends GroupVersionKind {
  plural: string;
  singular: string;
  namespaced: boolean;
  shortNames?: string[];
  categories?: string[];
  verbs: string[];
  subresources: { name: string; kind: GroupVersionKind; verbs: readonly string[] }[];
  /** False for reviews. */
  stored: boolean;
  type: string;
}

const allVerbs = ["create", "delete", "deletecollection", "get", "list", "patch", "update", "watch"];

function fromKind(kind: Kind): DiscoveredResource {
  const status = { name: "status", kind, verbs: ["get", "patch", "update"] };
  return {
    ...kind,
    verbs: kind.plural === "namespaces" ? allVerbs.filter((verb) => verb !== "deletecollection") : allVerbs,
    subresources: [...subresources.filter(({ of }) => of === kind), ...(kind.status ? [status] : [])],
    stored: true,
  };
}

function fromReview(kind: ReviewKind): DiscoveredResource {
  return { ...kind, singular: kind.kind.toLowerCase(), verbs: ["create"], subresources: [], stored: false };
}

const resources: readonly DiscoveredResource[] = [
  ...kinds.map(fromKind),
  ...reviewKinds.map(fromReview),
].sort((a, b) => (a.plural < b.plural ? -1 : 1));

/** In order of preference, which decides what a short name means. */
export const groupVersions: readonly { group: string; versions: string[] }[] = [
  { group: "", versions: ["v1"] },
  { group: "apps", versions: ["v1"] },
  { group: "events.k8s.io", versions: ["v1"] },
  { group: "authentication.k8s.io", versions: ["v1"] },
  { group: "authorization.k8s.io", versions: ["v1"] },
  { group: "autoscaling", versions: ["v2"] },
  { group: "batch", versions: ["v1"] },
  { group: "certificates.k8s.io", versions: ["v1"] },
  { group: "networking.k8s.io", versions: ["v1"] },
  { group: "policy", versions: ["v1"] },
  { group: "rbac.authorization.k8s.io", versions: ["v1"] },
  { group: "storage.k8s.io", versions: ["v1"] },
  { group: "admissionregistration.k8s.io", versions: ["v1"] },
  { group: "scheduling.k8s.io", versions: ["v1"] },
  { group: "coordination.k8s.io", versions: ["v1", "v1beta1"] },
  { group: "node.k8s.io", versions: ["v1"] },
  { group: "discovery.k8s.io", versions: ["v1"] },
  { group: "resource.k8s.io", versions: ["v1"] },
];

export const resourcesOf = (group: string, version: string) =>
  resources.filter((resource) => resource.group === group && resource.version === version);

const findResource = (apiVersion: string, kind: string) =>
  resources.find((resource) => resource.kind === kind && apiVersionOf(resource) === apiVersion);

export const isKnownType = (apiVersion: string, kind: string) => findResource(apiVersion, kind) !== undefined;

export const notRegistered = (apiVersion: string, kind: string) =>
  `no kind ${quote(kind)} is registered for version ${quote(apiVersion)} in scheme "pkg/runtime/scheme.go:111"`;

/** The type of a request body, by the apiVersion and kind that the body states. */
export function typeOf(apiVersion: string, kind: string): string {
  const found = findResource(apiVersion, kind);
  if (found) return found.type;
  if (kind === "DeleteOptions") return `${metaPrefix}DeleteOptions`;
  const carrying = subresources.find(({ kind: of }) => of.kind === kind && apiVersionOf(of) === apiVersion);
  if (carrying) return carrying.type;
  throw badRequest(notRegistered(apiVersion, kind));
}
