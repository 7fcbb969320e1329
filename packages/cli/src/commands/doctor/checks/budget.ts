/** Checks the number of replicas, and that a PodDisruptionBudget protects them without blocking drains forever. Pure. */
import type { Facts } from "../facts.ts";
import { matches } from "../pods.ts";
import { finding, fixWith, hint, ok, type Report } from "../report.ts";
import type { Budget } from "../snapshot.ts";
import { amountOf, nameOf, replicasOf, type Workload } from "../workload.ts";
import { scaleCommand } from "../workload-commands.ts";
import { readinessOf } from "./rollout.ts";

export function checkReplicas(workload: Workload, facts: Facts): Report[] {
  const { snapshot, advice, about } = facts;
  const replicas = replicasOf(workload);
  const name = nameOf(workload);
  if (workload.kind === "Pod") return [checkBarePod(workload, facts)];
  const labels = workload.spec.template.metadata?.labels;
  const covering = snapshot.budgets?.filter(({ spec }) => matches(spec?.selector, labels));
  const isLeaderOnly = readinessOf(workload, facts) !== undefined;
  const blocked = (covering ?? []).flatMap((budget) => checkBudget(budget, workload, isLeaderOnly, facts));
  if (blocked.length > 0) return blocked;
  if (replicas === 0) {
    const fix = fixWith("scale it up", scaleCommand(workload, 2, advice));
    return [hint("replicas", `${name} has 0 replicas, so nobody can lead`, fix, about)];
  }
  if (replicas === 1) {
    const what = `${name} has 1 replica: when it stops, nobody leads until it is restarted`;
    return [hint("replicas", what, "replicas: 2 or more", about)];
  }
  // A budget would keep the only Ready pod, the leader, on its node forever. A drain does not stop the pods of a DaemonSet.
  const needsBudget = covering?.length === 0 && !isLeaderOnly && workload.kind !== "DaemonSet";
  if (!needsBudget) return [ok("replicas", `${name} has ${replicas} replicas`, about)];
  const what = `${name} has no PodDisruptionBudget: draining nodes may stop all its replicas at once`;
  const manifest = [
    "apiVersion: policy/v1",
    "kind: PodDisruptionBudget",
    `metadata: {name: ${workload.metadata.name}, namespace: ${advice.namespace}}`,
    `spec: {maxUnavailable: 1, selector: {matchLabels: ${JSON.stringify(labels ?? {})}}}`,
  ].join("\n");
  return [hint("replicas", what, { fix: "create one", command: advice.apply(manifest) }, about)];
}

/** The kubelet restarts the containers of a pod, but nothing starts the pod again on another node. */
function checkBarePod({ metadata }: Workload, { about }: Facts): Report {
  if (metadata.ownerReferences?.length)
    return ok("replicas", `pod ${metadata.name} belongs to its node`, about);
  const what = `pod ${metadata.name} belongs to no Deployment: nothing starts it again when its node fails`;
  return hint("replicas", what, "let a Deployment start it", about);
}

function checkBudget(
  { metadata, spec }: Budget,
  workload: Workload,
  isLeaderOnly: boolean,
  { advice, about }: Facts,
): Report[] {
  const replicas = replicasOf(workload);
  const { minAvailable, maxUnavailable } = spec ?? {};
  // The disruption controller rounds both up.
  const needed =
    minAvailable === undefined
      ? replicas - amountOf(maxUnavailable ?? 0, replicas)
      : amountOf(minAvailable, replicas);
  const rule =
    minAvailable === undefined ? `maxUnavailable: ${maxUnavailable ?? 0}` : `minAvailable: ${minAvailable}`;
  if (replicas === 0) return [];
  if (needed >= replicas) {
    const patch = JSON.stringify({ spec: { minAvailable: null, maxUnavailable: 1 } });
    return [
      finding(
        "budget",
        `PodDisruptionBudget ${metadata.name} (${rule}) never lets a pod of ${nameOf(workload)} go: draining a node waits forever`,
        {
          fix: "allow one pod at a time: another replica takes over when the leader is evicted",
          command: advice.kubectl(`patch poddisruptionbudget/${metadata.name} --type=merge -p '${patch}'`),
        },
        about,
      ),
    ];
  }
  if (!isLeaderOnly || needed < 1) return [];
  return [
    finding(
      "budget",
      `PodDisruptionBudget ${metadata.name} (${rule}) never lets the leader of ${nameOf(workload)} go: it is the only Ready pod, and the budget wants ${needed}. Draining its node waits forever`,
      {
        fix: "let standbys be Ready and route by label, or do without the budget",
        command: advice.kubectl(`delete poddisruptionbudget/${metadata.name}`),
      },
      about,
    ),
  ];
}
