/** Checks that the holder of a lock exists, or that a candidate can take it. Pure. */

import { describeState, titleOf } from "../../../display/descriptions.ts";
import { ago, spell } from "../../../display/durations.ts";
import type { ElectionState } from "../../../elections/state.ts";
import { finding, ok, type Report } from "../report.ts";
import { isAlive, type Pod, podOf, type Snapshot, selects } from "../snapshot.ts";
import { containersOf, fixedIdentity, namesPodOf, type Workload } from "../workload.ts";

/** A running candidate takes a free lock much faster. */
const patienceMs = 5_000;

/** Whether the holder is named like a pod that does not exist. */
export function isHolderMissing({ record }: ElectionState, { pods, workloads }: Snapshot): boolean {
  if (record.holderIdentity === "" || pods === undefined || podOf(pods, record.holderIdentity)) return false;
  return (workloads ?? []).some((workload) => namesPodOf(workload, record.holderIdentity));
}

/** @param isRenewed whether the lock was renewed although the holder's pod is missing */
export function checkHolder(
  state: ElectionState,
  snapshot: Snapshot,
  workloads: readonly Workload[],
  isRenewed: boolean,
): Report {
  const about = titleOf(state);
  const holder = state.record.holderIdentity;
  if (state.standing === "led") {
    if (!isHolderMissing(state, snapshot))
      return ok("holder", `${holder} leads, renewed ${ago(state.ageMs ?? 0)}`, about);
    if (isRenewed) {
      return finding(
        "identity",
        `a process renews the lock as ${holder}, but no pod has this name: it runs outside of the cluster, or is a pod with a wrong identity`,
        "find it (kubectl get pods -A, the audit log of the API server) and give it its own identity: POD_NAME with the downward API",
        about,
      );
    }
    return finding(
      "stale",
      `${holder} holds the lock, but its pod is gone: it ended without releasing the lock`,
      `wait: other candidates may take it in ${spell(state.expiresInMs ?? 0)}. Pods that stop on SIGTERM within their grace period release it at once. Do not delete the lock`,
      about,
    );
  }
  const sinceMs = state.expiresInMs === undefined ? (state.ageMs ?? patienceMs) : -state.expiresInMs;
  if (state.orders.paused) return ok("holder", "nobody leads, because the election is paused", about);
  if (state.standing === "unreadable" || sinceMs < patienceMs)
    return ok("holder", describeState(state), about);
  return finding("stale", describeState(state), whyNobody(snapshot, workloads, state), about);
}

function whyNobody({ pods }: Snapshot, workloads: readonly Workload[], { name }: ElectionState): string {
  const [workload] = workloads;
  if (workload === undefined) {
    return `start a candidate: tenure elect or tenure run with --lease-lock-name=${name}; or delete the lock if the election is no longer needed`;
  }
  const which = `${workload.kind} ${workload.metadata.name}`;
  if (workload.spec.replicas === 0) return `${which} has 0 replicas: scale it up`;
  const own = (pods ?? []).filter(
    (pod) => isAlive(pod) && selects(pod.metadata.labels, workload.spec.selector?.matchLabels),
  );
  if (own.length === 0) return `${which} has no pods: find out why with kubectl describe`;
  const troubles = own.map(troubleOf).filter((trouble) => trouble !== undefined);
  if (troubles.length > 0)
    return `the pods of ${which} are not running (${[...new Set(troubles)].join(", ")}): see kubectl logs`;
  return `the pods of ${which} are running but do not take it: look for denied requests in kubectl logs, and check the rights above`;
}

function troubleOf({ metadata, status }: Pod): string | undefined {
  if (metadata.deletionTimestamp) return "Terminating";
  const waiting = status?.containerStatuses?.map(({ state }) => state?.waiting?.reason).find(Boolean);
  return waiting ?? (status?.phase === "Running" ? undefined : (status?.phase ?? "Unknown"));
}

/** Finds live pods with the same identity. Each would take the renewals of the other for its own. */
export function checkIdentities(snapshot: Snapshot, workloads: readonly Workload[], about: string): Report[] {
  const pods = (snapshot.pods ?? []).filter(isAlive);
  const byIdentity = new Map<string, string[]>();
  const add = (identity: string | undefined, owner: string, times: number) => {
    if (identity === undefined || times === 0) return;
    byIdentity.set(identity, [...(byIdentity.get(identity) ?? []), ...Array<string>(times).fill(owner)]);
  };
  for (const workload of workloads) {
    const own = pods.filter((pod) => selects(pod.metadata.labels, workload.spec.selector?.matchLabels));
    const identity = containersOf(workload).map(fixedIdentity).find(Boolean);
    if (own.length === 0) {
      add(identity, `${workload.kind} ${workload.metadata.name}`, workload.spec.replicas ?? 1);
      continue;
    }
    for (const { spec, metadata } of own) {
      add(
        [...(spec.initContainers ?? []), ...spec.containers].map(fixedIdentity).find(Boolean),
        `pod ${metadata.name}`,
        1,
      );
    }
  }
  return [...byIdentity]
    .filter(([, owners]) => owners.length > 1)
    .map(([identity, owners]) =>
      finding(
        "identity",
        `${owners.length} replicas have the identity "${identity}" (${[...new Set(owners)].join(", ")}): each takes the lease of the others for its own`,
        [
          "give each its own identity:",
          "env:",
          "  - name: POD_NAME",
          "    valueFrom: {fieldRef: {fieldPath: metadata.name}}",
        ].join("\n"),
        about,
      ),
    );
}
