/** Checks the manifest of a workload: rollouts, grace periods, identities, replicas. Pure. */
import { describeProblem, formatDuration, parseDuration } from "@tenure/base";
import { checkNesting, supervisorDefaults } from "@tenure/supervisor";
import { rolloutDeadlock } from "../../manifests/rollout.ts";
import { finding, hint, ok, type Report } from "../report.ts";
import { type Snapshot, selects } from "../snapshot.ts";
import {
  candidatesOf,
  flagOf,
  hasIdentity,
  isRunByTenure,
  leaderOnlyReadiness,
  nameOf,
  type Workload,
} from "../workload.ts";
import { checkSidecarStop } from "./sidecar-stop.ts";
import { checkUnelected } from "./unelected.ts";

/** The defaults of Kubernetes. */
const defaults = {
  replicas: 1,
  graceSeconds: supervisorDefaults.podGraceMs / 1_000,
  maxUnavailable: "25%",
  maxSurge: "25%",
};
const defaultStopTimeout = formatDuration(supervisorDefaults.stopTimeoutMs);

export function checkWorkload(
  workload: Workload,
  election: string,
  snapshot: Snapshot,
  about: string,
): Report[] {
  return [
    checkRollout(workload, about),
    ...checkUnelected(workload, election, snapshot, about),
    ...checkGrace(workload, election, about),
    ...checkSidecarStop(workload, about),
    ...checkNames(workload, election, about),
    ...checkReplicas(workload, snapshot, about),
  ];
}

function checkRollout(workload: Workload, about: string): Report {
  const { replicas = defaults.replicas, strategy } = workload.spec;
  const readiness = leaderOnlyReadiness(workload);
  const name = nameOf(workload);
  const isOk = () => ok("rollout", `a rollout of ${name} can finish`, about);
  if (readiness === undefined || workload.kind !== "Deployment") return isOk();
  const { maxUnavailable, maxSurge } = { ...defaults, ...strategy?.rollingUpdate };
  const deadlock =
    strategy?.type === "Recreate" ? undefined : rolloutDeadlock(replicas, { maxUnavailable, maxSurge });
  if (deadlock === undefined)
    return replicas > 1 ? endlessWait(workload, replicas, readiness, about) : isOk();
  return finding(
    "rollout",
    `a rollout of ${name} would hang: ${readiness}, ${deadlock}`,
    [
      "let standbys be Ready and route by label: readinessProbe on /readyz, tenure run --label, tenure.dev/role: leader in the",
      "Service's selector. Or accept a downtime at every rollout:",
      "strategy: {type: Recreate}",
    ].join("\n"),
    about,
  );
}

function endlessWait(
  { kind, metadata }: Workload,
  replicas: number,
  readiness: string,
  about: string,
): Report {
  const wait = `kubectl wait ${kind?.toLowerCase()}/${metadata.name} -n ${metadata.namespace ?? "default"} --for=jsonpath='{.status.readyReplicas}'=1`;
  return hint(
    "rollout",
    `a rollout of ${kind} ${metadata.name} can finish, but kubectl rollout status never succeeds: it waits for ${replicas} Ready replicas, and ${readiness}, so only the leader is Ready`,
    `wait for the leader instead: ${wait}`,
    about,
  );
}

const nestingNames: Readonly<Record<string, string>> = {
  podGraceMs: "terminationGracePeriodSeconds",
  stopTimeoutMs: "--stop-timeout",
};

function checkGrace(workload: Workload, election: string, about: string): Report[] {
  const podGraceMs =
    (workload.spec.template.spec.terminationGracePeriodSeconds ?? defaults.graceSeconds) * 1_000;
  return candidatesOf(workload, election).flatMap((container) => {
    const given =
      flagOf(container, "stop-timeout") ?? (isRunByTenure(container) ? defaultStopTimeout : undefined);
    const stopTimeoutMs = parseDuration(given);
    if (stopTimeoutMs === undefined) return [];
    const [problem] = checkNesting({ podGraceMs, stopTimeoutMs });
    if (problem === undefined) {
      return [
        ok("grace", `${nameOf(workload)} has enough time to stop: ${given} of ${podGraceMs / 1_000}s`, about),
      ];
    }
    const enough = Math.ceil(stopTimeoutMs / 1_000) + 5;
    return [
      finding(
        "grace",
        `${nameOf(workload)}, container ${container.name}: ${describeProblem(problem, (field) => nestingNames[field] ?? field)}. The kubelet would kill it before it releases its lease`,
        `set terminationGracePeriodSeconds: ${enough}, or a shorter --stop-timeout`,
        about,
      ),
    ];
  });
}

function checkNames(workload: Workload, election: string, about: string): Report[] {
  return candidatesOf(workload, election)
    .filter((container) => isRunByTenure(container) && !hasIdentity(container))
    .map(({ name }) =>
      finding(
        "identity",
        `${nameOf(workload)}, container ${name} has no identity: neither POD_NAME nor --id is set. It uses its host name and a random suffix, which does not lead to its pod`,
        ["env:", "  - name: POD_NAME", "    valueFrom: {fieldRef: {fieldPath: metadata.name}}"].join("\n"),
        about,
      ),
    );
}

function checkReplicas(workload: Workload, { budgets }: Snapshot, about: string): Report[] {
  const { replicas = defaults.replicas, template } = workload.spec;
  const name = nameOf(workload);
  if (replicas === 0)
    return [hint("replicas", `${name} has 0 replicas, so nobody can lead`, "scale it up", about)];
  if (replicas === 1) {
    const what = `${name} has 1 replica: when it stops, nobody leads until it is restarted`;
    return [hint("replicas", what, "replicas: 2 or more", about)];
  }
  const isCovered = budgets?.some(({ spec }) =>
    selects(template.metadata?.labels, spec?.selector?.matchLabels),
  );
  if (budgets === undefined || isCovered) return [ok("replicas", `${name} has ${replicas} replicas`, about)];
  const what = `${name} has no PodDisruptionBudget: draining nodes may stop all its replicas at once`;
  const labels = JSON.stringify(template.metadata?.labels ?? {});
  const fix = [
    "apiVersion: policy/v1",
    "kind: PodDisruptionBudget",
    `metadata: {name: ${workload.metadata.name}, namespace: ${workload.metadata.namespace ?? "default"}}`,
    `spec: {maxUnavailable: 1, selector: {matchLabels: ${labels}}}`,
  ].join("\n");
  return [hint("replicas", what, fix, about)];
}
