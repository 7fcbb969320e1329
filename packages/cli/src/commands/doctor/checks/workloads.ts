/** What a workload's manifest says that will hurt its election: at a rollout, at the end of a pod, at the end of a node. Pure. */
import { describeProblem, parseDuration } from "@tenure/base";
import { checkNesting } from "@tenure/supervisor";
import { rolloutDeadlock } from "../../manifests/rollout.ts";
import { finding, hint, ok, type Report } from "../report.ts";
import { type Snapshot, selects } from "../snapshot.ts";
import {
  candidatesOf,
  flagOf,
  hasIdentity,
  isRunByTenure,
  leaderOnlyReadiness,
  type Workload,
} from "../workload.ts";

/** What Kubernetes assumes where a manifest is silent. */
const defaults = { replicas: 1, graceSeconds: 30, maxUnavailable: "25%", maxSurge: "25%" };
const defaultStopTimeout = "25s";

export function checkWorkload(
  workload: Workload,
  election: string,
  snapshot: Snapshot,
  about: string,
): Report[] {
  return [
    checkRollout(workload, about),
    ...checkGrace(workload, election, about),
    ...checkNames(workload, election, about),
    ...checkReplicas(workload, snapshot, about),
  ];
}

function nameOf({ kind, metadata }: Workload): string {
  return `${kind} ${metadata.name}`;
}

function checkRollout(workload: Workload, about: string): Report {
  const { replicas = defaults.replicas, strategy } = workload.spec;
  const readiness = leaderOnlyReadiness(workload);
  const name = nameOf(workload);
  // A StatefulSet stops a pod before it starts its successor.
  if (readiness === undefined || workload.kind !== "Deployment" || strategy?.type === "Recreate") {
    return ok("rollout", `a rollout of ${name} can come to its end`, about);
  }
  const { maxUnavailable, maxSurge } = { ...defaults, ...strategy?.rollingUpdate };
  const deadlock = rolloutDeadlock(replicas, { maxUnavailable, maxSurge });
  if (deadlock === undefined) return ok("rollout", `a rollout of ${name} can come to its end`, about);
  return finding(
    "rollout",
    `a rollout of ${name} will never end: ${readiness}, ${deadlock}`,
    [
      "let standbys be Ready and route by label: readinessProbe on /readyz, tenure run --label, tenure.dev/role: leader in the",
      "Service's selector. Or, with a pause at every rollout:",
      "strategy: {type: Recreate}",
    ].join("\n"),
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
        ok(
          "grace",
          `${nameOf(workload)} may take its time to stop: ${given} of ${podGraceMs / 1_000}s`,
          about,
        ),
      ];
    }
    const enough = Math.ceil(stopTimeoutMs / 1_000) + 5;
    return [
      finding(
        "grace",
        `${nameOf(workload)}, container ${container.name}: ${describeProblem(problem, (field) => nestingNames[field] ?? field)}. The kubelet kills it before its lease is released`,
        `terminationGracePeriodSeconds: ${enough}, or a shorter --stop-timeout`,
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
        `${nameOf(workload)}, container ${name} has no identity: neither POD_NAME nor --id`,
        ["env:", "  - name: POD_NAME", "    valueFrom: {fieldRef: {fieldPath: metadata.name}}"].join("\n"),
        about,
      ),
    );
}

function checkReplicas(workload: Workload, { budgets }: Snapshot, about: string): Report[] {
  const { replicas = defaults.replicas, template } = workload.spec;
  const name = nameOf(workload);
  if (replicas === 0)
    return [hint("replicas", `${name} has 0 replicas: nobody will lead`, "scale it up", about)];
  if (replicas === 1) {
    const what = `${name} has 1 replica: when it ends, nobody takes over until it is started anew`;
    return [hint("replicas", what, "replicas: 2 or more", about)];
  }
  const isCovered = budgets?.some(({ spec }) =>
    selects(template.metadata?.labels, spec?.selector?.matchLabels),
  );
  if (budgets === undefined || isCovered) return [ok("replicas", `${name} has ${replicas} replicas`, about)];
  const what = `${name} has no PodDisruptionBudget: draining nodes may end all its replicas at once`;
  const labels = JSON.stringify(template.metadata?.labels ?? {});
  const fix = [
    "apiVersion: policy/v1",
    "kind: PodDisruptionBudget",
    `metadata: {name: ${workload.metadata.name}, namespace: ${workload.metadata.namespace ?? "default"}}`,
    `spec: {maxUnavailable: 1, selector: {matchLabels: ${labels}}}`,
  ].join("\n");
  return [hint("replicas", what, fix, about)];
}
