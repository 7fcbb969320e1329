/** Checks that a rollout of a workload can finish, and that its probes do not stop standbys. Pure. */
import { rolloutDeadlock } from "../../manifests/rollout.ts";
import type { Facts } from "../facts.ts";
import { leaderOnlyProbe, leaderOnlyReadiness } from "../probes.ts";
import { type Fix, finding, fixWith, hint, ok, type Report } from "../report.ts";
import { amountOf, nameOf, replicasOf, resourceOf, type Workload } from "../workload.ts";
import { patchCommand } from "../workload-commands.ts";

/** Of a Deployment in Kubernetes. */
const defaults = { maxUnavailable: "25%", maxSurge: "25%" };

/** Why only the leader can be Ready; undefined if standbys can be too. */
export function readinessOf(workload: Workload, { snapshot, state, nowMs }: Facts): string | undefined {
  return leaderOnlyReadiness(workload, snapshot.pods, state ?? {}, nowMs);
}

export function checkRollout(workload: Workload, facts: Facts): Report {
  const { advice, about } = facts;
  const readiness = readinessOf(workload, facts);
  const name = nameOf(workload);
  const deadlock = readiness === undefined ? undefined : deadlockOf(workload);
  if (readiness === undefined || (deadlock === undefined && replicasOf(workload) <= 1))
    return ok("rollout", `a rollout of ${name} can finish`, about);
  if (deadlock === undefined) {
    const wait = `wait ${resourceOf(workload)} --for=jsonpath='{.status.readyReplicas}'=1`;
    return hint(
      "rollout",
      `a rollout of ${name} can finish, but kubectl rollout status never succeeds: it waits for ${replicasOf(workload)} Ready replicas, and ${readiness}, so only the leader is Ready`,
      { fix: "wait for the leader instead", command: advice.kubectl(wait) },
      about,
    );
  }
  return finding(
    "rollout",
    `a rollout of ${name} would hang: ${readiness}, ${deadlock}`,
    wayOut(workload, facts),
    about,
  );
}

/** Why the rollout hangs if only the leader is Ready. Pods without a workload are never rolled out. */
function deadlockOf(workload: Workload): string | undefined {
  const { kind, spec } = workload;
  const replicas = replicasOf(workload);
  if (kind === "Deployment") {
    const { type, rollingUpdate } = spec.strategy ?? {};
    return rolloutDeadlock(replicas, type === "Recreate" ? "recreate" : { ...defaults, ...rollingUpdate });
  }
  if ((kind !== "StatefulSet" && kind !== "DaemonSet") || replicas <= 1) return undefined;
  const { type, rollingUpdate } = spec.updateStrategy ?? {};
  if (type === "OnDelete") return undefined;
  // The standbys are always unavailable. A DaemonSet stops the leader too if even more pods may be.
  if (kind === "DaemonSet" && amountOf(rollingUpdate?.maxUnavailable ?? 1, replicas) >= replicas)
    return undefined;
  // Verified with the controllers of Kubernetes 1.36.
  return `only the leader is Ready, and a ${kind} stops it only when the new pods are Ready: they would wait for its lease forever`;
}

function wayOut(workload: Workload, { advice }: Facts): Fix {
  const isDeployment = workload.kind === "Deployment";
  const [field, type] = isDeployment ? ["strategy", "Recreate"] : ["updateStrategy", "OnDelete"];
  return fixWith(
    [
      "let standbys be Ready and route by label: readinessProbe on /readyz, tenure run --label, tenure.dev/role: leader in the",
      `Service's selector. Or ${isDeployment ? "accept a downtime at every rollout" : "delete the pods yourself at every rollout"}:`,
      `${field}: {type: ${type}}`,
    ].join("\n"),
    patchCommand(workload, { [field as string]: { type, rollingUpdate: null } }, advice),
  );
}

/** A standby that fails its liveness probe is killed again and again, and can never take over. */
export function checkLiveness(workload: Workload, { about }: Facts): Report[] {
  for (const probe of ["livenessProbe", "startupProbe"] as const) {
    const why = leaderOnlyProbe(workload, probe);
    if (why === undefined) continue;
    const what = `the kubelet restarts every standby of ${nameOf(workload)} again and again: ${why}, which only the leader passes`;
    const fix = `let the ${probe} ask whether the process works, not whether it leads: /livez of tenure's status port, for example`;
    return [finding("liveness", what, fix, about)];
  }
  return [];
}
