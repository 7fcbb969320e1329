/** Which workloads take part in an election, and which rights they need. Pure. */
import type { RbacRule } from "@tenure/kube/internal";
import { endpointSliceRules, leaderConfigMapRules, podLabelRules } from "@tenure/traffic";
import { electionLabel, electionLabelValue } from "@tenure/traffic/internal";
import { type LockKind, lockKinds } from "../../elections/lock-object.ts";
import type { ElectionState } from "../../elections/state.ts";
import {
  candidatesOf,
  electionsOf,
  flagOf,
  hasFlag,
  hasOwnCredentials,
  isRunByTenure,
  switchOf,
} from "./flags.ts";
import { isPodOf, podOf, podsOnHost, unmanaged } from "./pods.ts";
import type { Workloads } from "./snapshot.ts";
import { type Container, containersOf, namesPodOf, type Workload } from "./workload.ts";

/**
 * The workloads of an election: those whose flags or labels name it, and the one whose pod holds the lock. Pods without a
 * workload count as one each.
 */
export function workloadsOf(
  election: string,
  holder: string,
  { workloads = [], pods = [], denials }: Workloads,
): Workload[] {
  const holderPod = podOf(pods, holder);
  const onHost = holderPod ? [] : podsOnHost(pods, holder);
  // Without the right to list workloads, nothing shows that a pod has none.
  const isComplete = denials.every(({ apiGroup }) => apiGroup !== "apps");
  return [...workloads, ...(isComplete ? unmanaged(pods, workloads) : [])].filter((workload) => {
    const named = electionsOf(workload);
    // A workload that names its elections takes part in those only, even if its pod names match another holder.
    if (named.length > 0) return named.includes(election);
    if (workload.spec.template.metadata?.labels?.[electionLabel] === electionLabelValue(election))
      return true;
    if (holder === "") return false;
    if (holderPod) return isPodOf(workload, holderPod);
    if (onHost.some((pod) => isPodOf(workload, pod))) return isNamedAfter(workload, election);
    return namesPodOf(workload, holder);
  });
}

/** Every pod with hostNetwork has the name of its node. The components of Kubernetes have the name of their election. */
function isNamedAfter(workload: Workload, election: string): boolean {
  return containersOf(workload).some(
    (container) =>
      switchOf(container)?.isOn === true &&
      [workload.metadata.name, container.name, container.command?.[0] ?? ""].some((name) =>
        name.includes(election),
      ),
  );
}

/**
 * The rights of a candidate: those for its lock, and those for its flags. client-go reads the lock again and again, and needs no watch.
 * @param existing the ConfigMaps that exist
 */
export function rulesFor(
  election: string,
  kinds: readonly LockKind[],
  containers: readonly Container[],
  isTenure = containers.some(isRunByTenure),
  existing: readonly string[] = [],
): RbacRule[] {
  return [
    ...kinds.flatMap((kind) => lockRules(kind, election, isTenure)),
    ...containers.filter(isRunByTenure).flatMap((container) => flagRules(container, existing)),
  ];
}

/** @param name undefined if the name of the election is not known */
export function lockRules(kind: LockKind, name: string | undefined, watches = true): RbacRule[] {
  const { apiGroup, plural } = lockKinds[kind];
  const base = { apiGroups: [apiGroup], resources: [plural] };
  const verbs = ["get", "update", ...(watches ? ["watch"] : [])];
  return [
    { ...base, verbs: ["create"] },
    { ...base, ...(name !== undefined && { resourceNames: [name] }), verbs },
  ];
}

/** The names of the ConfigMaps in which its containers publish the leader. */
export function configMapsOf(containers: readonly Container[]): string[] {
  const names = containers.map((container) => flagOf(container, "leader-configmap")?.split("/")[0]);
  return names.filter((name) => name !== undefined);
}

function flagRules(container: Container, existing: readonly string[]): RbacRule[] {
  const service = flagOf(container, "service");
  const slice = flagOf(container, "endpoint-slice");
  return [
    ...(hasFlag(container, "announce")
      ? [{ apiGroups: [""], resources: ["events"], verbs: ["create"] }]
      : []),
    ...(hasFlag(container, "label") ? podLabelRules() : []),
    ...(service === undefined
      ? []
      : endpointSliceRules({ service, ...(slice !== undefined && { name: slice }) })),
    // Nobody needs to create a ConfigMap that exists.
    ...configMapsOf([container])
      .flatMap((name) => leaderConfigMapRules({ name }).map((rule) => ({ rule, name })))
      .filter(({ rule, name }) => !(existing.includes(name) && rule.verbs.includes("create")))
      .map(({ rule }) => rule),
  ];
}

/** The service account of its pods. Undefined if they have credentials of their own. */
export function accountOf(workload: Workload, election: string, namespace: string): string | undefined {
  if (candidatesOf(workload, election).some(hasOwnCredentials)) return undefined;
  const { serviceAccountName = "default" } = workload.spec.template.spec;
  return `system:serviceaccount:${workload.metadata.namespace ?? namespace}:${serviceAccountName}`;
}

/** The kinds of lock in its flags, else those that exist, else a Lease. */
export function kindsFor(workload: Workload, election: string, states: readonly ElectionState[]): LockKind[] {
  const flag = candidatesOf(workload, election)
    .map((container) => flagOf(container, "lock"))
    .find(Boolean);
  const named = (flag ?? "").split("+").filter((kind): kind is LockKind => Object.hasOwn(lockKinds, kind));
  if (named.length > 0) return named;
  return states.length > 0 ? states.map(({ kind }) => kind) : ["lease"];
}

/** The key under which its candidates publish the leader, by the name of the ConfigMap, if a flag sets it. */
export function publishedKeys(workloads: readonly Workload[], election: string): Map<string, string> {
  const flags = workloads.flatMap((workload) =>
    candidatesOf(workload, election).map((container) => flagOf(container, "leader-configmap")),
  );
  return new Map(
    flags
      .map((flag) => (flag ?? "").split("/", 2))
      .filter((parts): parts is [string, string] => parts[1] !== undefined),
  );
}
