/** Which workloads take part in an election, and which rights they need. Pure. */
import type { RbacRule } from "@tenure/kube/internal";
import { endpointSliceRules, leaderConfigMapRules, podLabelRules } from "@tenure/traffic";
import { electionLabel, electionLabelValue } from "@tenure/traffic/internal";
import { type LockKind, lockKinds } from "../../elections/lock-object.ts";
import type { ElectionState } from "../../elections/state.ts";
import { podOf, type Snapshot, selects } from "./snapshot.ts";
import {
  type Container,
  candidatesOf,
  electionsOf,
  flagOf,
  hasFlag,
  namesPodOf,
  type Workload,
} from "./workload.ts";

export function workloadsOf(
  election: string,
  holder: string,
  { workloads = [], pods = [] }: Snapshot,
): Workload[] {
  const holderPod = podOf(pods, holder);
  return workloads.filter((workload) => {
    const { selector, template } = workload.spec;
    const named = electionsOf(workload);
    // A workload that names its elections takes part in those only, even if its pod names match another holder.
    if (named.length > 0) return named.includes(election);
    if (template.metadata?.labels?.[electionLabel] === electionLabelValue(election)) return true;
    if (holder === "") return false;
    return holderPod
      ? selects(holderPod.metadata.labels, selector?.matchLabels)
      : namesPodOf(workload, holder);
  });
}

/** The rights of a candidate: those for its lock, and those for its flags. */
export function rulesFor(
  election: string,
  kinds: readonly LockKind[],
  containers: readonly Container[],
): RbacRule[] {
  return [...kinds.flatMap((kind) => lockRules(kind, election)), ...containers.flatMap(flagRules)];
}

/** @param name undefined if the name of the election is not known */
export function lockRules(kind: LockKind, name: string | undefined): RbacRule[] {
  const { apiGroup, plural } = lockKinds[kind];
  const base = { apiGroups: [apiGroup], resources: [plural] };
  return [
    { ...base, verbs: ["create"] },
    { ...base, ...(name !== undefined && { resourceNames: [name] }), verbs: ["get", "update", "watch"] },
  ];
}

function flagRules(container: Container): RbacRule[] {
  const service = flagOf(container, "service");
  const slice = flagOf(container, "endpoint-slice");
  const configMap = flagOf(container, "leader-configmap")?.split("/")[0];
  return [
    ...(hasFlag(container, "announce")
      ? [{ apiGroups: [""], resources: ["events"], verbs: ["create"] }]
      : []),
    ...(hasFlag(container, "label") ? podLabelRules() : []),
    ...(service === undefined
      ? []
      : endpointSliceRules({ service, ...(slice !== undefined && { name: slice }) })),
    ...(configMap === undefined ? [] : leaderConfigMapRules({ name: configMap })),
  ];
}

/** The service account of its pods. */
export function accountOf({ metadata, spec }: Workload, namespace: string): string {
  const { serviceAccountName = "default" } = spec.template.spec;
  return `system:serviceaccount:${metadata.namespace ?? namespace}:${serviceAccountName}`;
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
