/** Probes that only the leader passes: by what they ask for, and by which pods are Ready. Pure. */
import { defaultReadyFile } from "@tenure/traffic/internal";
import { spell } from "../../display/durations.ts";
import { flagOf, isRunByTenure } from "./flags.ts";
import { isIdentityOf, isRunning, livePodsOf, type Pod } from "./pods.ts";
import { containersOf, type Probe, type Workload } from "./workload.ts";

type ProbeName = "readinessProbe" | "livenessProbe" | "startupProbe";
const spelled: Readonly<Record<ProbeName, string>> = {
  readinessProbe: "its readiness probe",
  livenessProbe: "its liveness probe",
  startupProbe: "its startup probe",
};

/** `/check-leader.sh`, `/isLeader`; but not `/healthz/leaderElection`, which standbys pass too. */
const asksForLeader = /leader(?![-_]?elect)/i;
/** The sidecar leader-elector answers with the name of the leader on this port. */
const asksElector = /\b(localhost|127\.0\.0\.1):4040\b/;

/** Why only the leader passes the probe; undefined if nothing in it asks for leadership. */
export function leaderOnlyProbe(workload: Workload, name: ProbeName): string | undefined {
  const containers = containersOf(workload);
  const given = containers.map((each) => flagOf(each, "ready-file")).find(Boolean);
  // Any program may use this name for its own health. Only a probe for readiness says more.
  const isUsual = name === "readinessProbe" || containers.some(isRunByTenure);
  const readyFile = given ?? (isUsual ? defaultReadyFile : undefined);
  const mode = containers.map((each) => flagOf(each, "status-ready")).find(Boolean);
  for (const container of containers) {
    const why = whyLeaderOnly(container[name], readyFile, mode);
    if (why !== undefined) return `${spelled[name]} ${why}`;
  }
  return undefined;
}

function whyLeaderOnly(
  probe: Probe | undefined,
  readyFile: string | undefined,
  mode: string | undefined,
): string | undefined {
  const typed = probe?.exec?.command?.join(" ") ?? "";
  const path = probe?.httpGet?.path ?? "";
  if (readyFile !== undefined && typed.split(/[\s"']+/).includes(readyFile)) return `checks ${readyFile}`;
  if (/\btenure\b.*\bprobe\b.*--(lease|contains)/.test(typed)) return `is "${typed}"`;
  if (asksForLeader.test(typed) || asksElector.test(typed)) return `is "${typed}", which asks for the leader`;
  if (/[?&]mode=(leader|child-ready)\b/.test(path)) return `requests ${path}`;
  if (/^\/readyz\b/.test(path) && (mode === "leader" || mode === "child-ready"))
    return `requests ${path}, which succeeds only on the leader because of --status-ready=${mode}`;
  if (asksForLeader.test(path.split("?")[0] ?? "")) return `requests ${path}, which asks for the leader`;
  return undefined;
}

/** A pod that starts or takes over is not Ready for a while. */
const settledMs = 60_000;

interface Held {
  readonly leader?: string;
  readonly heldForMs?: number;
}

/**
 * Why only the leader can be Ready; undefined if standbys can be too. What the pods show counts more than what the probe looks
 * like: the program decides who passes.
 */
export function leaderOnlyReadiness(
  workload: Workload,
  pods: readonly Pod[] | undefined,
  { leader, heldForMs = 0 }: Held,
  nowMs: number,
): string | undefined {
  const probe = leaderOnlyProbe(workload, "readinessProbe");
  const own = livePodsOf(workload, pods).filter(isRunning);
  if (leader === undefined && own.filter((pod) => readyMs(pod, "True", nowMs) > settledMs).length > 1)
    return undefined;
  if (leader === undefined || heldForMs < settledMs) return probe;
  const standbys = own.filter((pod) => !isIdentityOf(pod, leader));
  const leading = own.filter((pod) => isIdentityOf(pod, leader));
  const sinceMs = (pod: Pod, status: string) => readyMs(pod, status, nowMs);
  if (standbys.some((pod) => sinceMs(pod, "True") > settledMs)) return undefined;
  if (probe !== undefined) return probe;
  const waits = standbys.map((pod) => (isFailing(pod) ? 0 : sinceMs(pod, "False")));
  const isOnlyLeader =
    leading.some((pod) => sinceMs(pod, "True") > 0) &&
    waits.length > 0 &&
    waits.every((ms) => ms > settledMs);
  return isOnlyLeader
    ? `its standbys run, but have not been Ready for ${spell(Math.min(...waits))}`
    : undefined;
}

/** For how long the pod has been Ready ("True") or not ("False"); 0 if it is the other. */
function readyMs({ status: { conditions } = {} }: Pod, status: string, nowMs: number): number {
  const condition = conditions?.find(({ type }) => type === "Ready");
  const ms = nowMs - Date.parse(condition?.lastTransitionTime ?? "");
  return condition?.status === status && ms >= 0 ? ms : 0;
}

/** Whether a pod of the workload runs, but has not been Ready for a while. */
export function hasWaitingPods(workload: Workload, pods: readonly Pod[] | undefined, nowMs: number): boolean {
  return livePodsOf(workload, pods).some((pod) => isRunning(pod) && readyMs(pod, "False", nowMs) > settledMs);
}

/** A program that crashes is not Ready for another reason. */
function isFailing({ status }: Pod): boolean {
  return (status?.containerStatuses ?? []).some(
    ({ state, restartCount = 0 }) => state?.waiting !== undefined || restartCount > 0,
  );
}
