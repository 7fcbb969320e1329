/** Checks that the holder of a lock exists, or that a candidate can take it. Pure. */

import { describeState, titleOf } from "../../../display/descriptions.ts";
import { ago, spell } from "../../../display/durations.ts";
import type { ElectionState } from "../../../elections/state.ts";
import type { Advice } from "../advice.ts";
import { livePodsOf, type Pod, podOf } from "../pods.ts";
import { type Fix, finding, fixWith, ok, type Report } from "../report.ts";
import type { Snapshot } from "../snapshot.ts";
import { isKnown, nameOf, namesPodOf, replicasOf, resourceOf, type Workload } from "../workload.ts";
import { scaleCommand } from "../workload-commands.ts";

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
  advice: Advice,
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
        {
          fix: "find it (the pods of all namespaces, the audit log of the API server) and give it its own identity: POD_NAME with the downward API",
          command: advice.kubectl("get pods -o wide"),
        },
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
  return finding("stale", describeState(state), whyNobody(snapshot, workloads, state, advice), about);
}

function whyNobody(
  { pods }: Snapshot,
  [workload]: readonly Workload[],
  { name }: ElectionState,
  advice: Advice,
): Fix {
  if (workload === undefined) {
    return `start a candidate: tenure elect or tenure run with --lease-lock-name=${name}; or delete the lock if the election is no longer needed`;
  }
  const which = nameOf(workload);
  const look = (verb: string) =>
    isKnown(workload) ? advice.kubectl(`${verb} ${resourceOf(workload)}`) : undefined;
  if (replicasOf(workload) === 0)
    return fixWith(`${which} has 0 replicas: scale it up`, scaleCommand(workload, 2, advice));
  const own = livePodsOf(workload, pods);
  if (own.length === 0) return fixWith(`${which} has no pods: find out why`, look("describe"));
  const troubles = own.map(troubleOf).filter((trouble) => trouble !== undefined);
  if (troubles.length > 0)
    return fixWith(
      `the pods of ${which} are not running (${[...new Set(troubles)].join(", ")}): see their logs`,
      look("logs"),
    );
  return fixWith(
    `the pods of ${which} are running but do not take it: look for denied requests in their logs, and check the rights above`,
    look("logs"),
  );
}

function troubleOf({ metadata, status }: Pod): string | undefined {
  if (metadata.deletionTimestamp) return "Terminating";
  const waiting = status?.containerStatuses?.map(({ state }) => state?.waiting?.reason).find(Boolean);
  return waiting ?? (status?.phase === "Running" ? undefined : (status?.phase ?? "Unknown"));
}
