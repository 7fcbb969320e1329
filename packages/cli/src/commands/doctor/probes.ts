/** Probes that only the leader passes: by what they ask for, and by which pods are Ready. Pure. */
import { defaultReadyFile } from "@tenure/traffic/internal";
import { spell } from "../../display/durations.ts";
import { flagOf } from "./flags.ts";
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
  const readyFile = containers.map((each) => flagOf(each, "ready-file")).find(Boolean) ?? defaultReadyFile;
  const mode = containers.map((each) => flagOf(each, "status-ready")).find(Boolean);
  for (const container of containers) {
    const why = whyLeaderOnly(container[name], readyFile, mode);
    if (why !== undefined) return `${spelled[name]} ${why}`;
  }
  return undefined;
}

function whyLeaderOnly(
  probe: Probe | undefined,
  readyFile: string,
  mode: string | undefined,
): string | undefined {
  const typed = probe?.exec?.command?.join(" ") ?? "";
  const path = probe?.httpGet?.path ?? "";
  if (typed.split(/[\s"']+/).includes(readyFile)) return `checks ${readyFile}`;
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
  if (leader === undefined || heldForMs < settledMs) return probe;
  const own = livePodsOf(workload, pods).filter(isRunning);
  const standbys = own.filter((pod) => !isIdentityOf(pod, leader));
  const leading = own.filter((pod) => isIdentityOf(pod, leader));
  const sinceMs = (pod: Pod, status: string) => {
    const condition = pod.status?.conditions?.find(({ type }) => type === "Ready");
    const ms = nowMs - Date.parse(condition?.lastTransitionTime ?? "");
    return condition?.status === status && ms >= 0 ? ms : 0;
  };
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

/** A program that crashes is not Ready for another reason. */
function isFailing({ status }: Pod): boolean {
  return (status?.containerStatuses ?? []).some(
    ({ state, restartCount = 0 }) => state?.waiting !== undefined || restartCount > 0,
  );
}
