/** Whether the holder of a lock is somebody, and whether somebody is there to take it. Pure. */
import type { ElectionState } from "../../../elections/state.ts";
import { ago, spell } from "../../../elections/time-words.ts";
import { sentence, titleOf } from "../../../elections/words.ts";
import { finding, ok, type Report } from "../report.ts";
import { isAlive, type Pod, podOf, type Snapshot, selects } from "../snapshot.ts";
import { containersOf, fixedIdentity, namesPodOf, type Workload } from "../workload.ts";

/** A candidate takes a free lock within moments; after so long nobody will. */
const patienceMs = 5_000;

/** Whether the holder's name is that of a pod which is not there. */
export function isHeldByNobody({ record }: ElectionState, { pods, workloads }: Snapshot): boolean {
  if (record.holderIdentity === "" || pods === undefined || podOf(pods, record.holderIdentity)) return false;
  return (workloads ?? []).some((workload) => namesPodOf(workload, record.holderIdentity));
}

/** @param isRenewed whether somebody was seen to renew it, where the holder has no pod */
export function checkHolder(
  state: ElectionState,
  snapshot: Snapshot,
  workloads: readonly Workload[],
  isRenewed: boolean,
): Report {
  const about = titleOf(state);
  const holder = state.record.holderIdentity;
  if (state.standing === "led") {
    if (!isHeldByNobody(state, snapshot))
      return ok("holder", `${holder} leads, renewed ${ago(state.ageMs ?? 0)}`, about);
    if (isRenewed) {
      return finding(
        "identity",
        `somebody renews the lock as ${holder}, and no pod has this name: a process outside of the cluster, or a pod with the identity of another`,
        "find it (kubectl get pods -A, the audit log of the API server) and give it an identity of its own: POD_NAME by the downward API",
        about,
      );
    }
    return finding(
      "stale",
      `${holder} holds the lock, and its pod is gone: it ended without releasing it`,
      `wait: others may take it in ${spell(state.expiresInMs ?? 0)}. Let pods end by SIGTERM within their grace period, and it is released at once. Do not delete the lock`,
      about,
    );
  }
  const sinceMs = state.expiresInMs === undefined ? (state.ageMs ?? patienceMs) : -state.expiresInMs;
  if (state.orders.paused) return ok("holder", "nobody leads, as it is paused", about);
  if (state.standing === "unreadable" || sinceMs < patienceMs) return ok("holder", sentence(state), about);
  return finding("stale", sentence(state), whyNobody(snapshot, workloads, state), about);
}

function whyNobody({ pods }: Snapshot, workloads: readonly Workload[], { name }: ElectionState): string {
  const [workload] = workloads;
  if (workload === undefined) {
    return `start a candidate: tenure elect or tenure run with --lease-lock-name=${name}; or, if the election is not needed any more, delete its lock`;
  }
  const which = `${workload.kind} ${workload.metadata.name}`;
  if (workload.spec.replicas === 0) return `${which} has 0 replicas: scale it up`;
  const own = (pods ?? []).filter(
    (pod) => isAlive(pod) && selects(pod.metadata.labels, workload.spec.selector?.matchLabels),
  );
  if (own.length === 0) return `${which} has no pods: see why with kubectl describe`;
  const troubles = own.map(troubleOf).filter((trouble) => trouble !== undefined);
  if (troubles.length > 0)
    return `the pods of ${which} do not run (${[...new Set(troubles)].join(", ")}): see kubectl logs`;
  return `the pods of ${which} run and do not take it: see kubectl logs for refused requests, and the rights above`;
}

function troubleOf({ metadata, status }: Pod): string | undefined {
  if (metadata.deletionTimestamp) return "Terminating";
  const waiting = status?.containerStatuses?.map(({ state }) => state?.waiting?.reason).find(Boolean);
  return waiting ?? (status?.phase === "Running" ? undefined : (status?.phase ?? "Unknown"));
}

/** Two live pods that call themselves the same: each takes the other's renewals for its own. */
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
        `${owners.length} replicas call themselves "${identity}" (${[...new Set(owners)].join(", ")}): each takes the others' lease for its own`,
        [
          "give each its own name:",
          "env:",
          "  - name: POD_NAME",
          "    valueFrom: {fieldRef: {fieldPath: metadata.name}}",
        ].join("\n"),
        about,
      ),
    );
}
