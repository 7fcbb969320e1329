import { election, readyFor } from "../healthy.ts";
import { leaderDemo, singleActive } from "../tutorial.ts";
import { containerOf, type Fault, onClientGo } from "./fault.ts";

const readyFile = { exec: { command: ["cat", "/tmp/ready"] } };

/** Rollouts, drains and restarts. */
export const rolloutFaults: readonly Fault[] = [
  {
    name: "Only the leader is Ready, and a rollout waits for the others",
    plant: (world) => {
      containerOf(world).readinessProbe = readyFile;
      world.podStatus = () => ({ phase: "Running" });
      world.budget = undefined;
    },
    check: "rollout",
    what: /a rollout of Deployment billing would hang: its readiness probe checks \/tmp\/ready, only the leader is Ready/,
    fix: /strategy: \{type: Recreate\}\nkubectl patch deployment\/billing /,
  },
  {
    name: "The Deployment of a tutorial hangs: its program writes `/tmp/ready` on the leader",
    plant: (world) => leaderDemo(world),
    examine: "example-leader-election",
    check: "rollout",
    what: /^a rollout of Deployment leader-demo would hang: its readiness probe checks \/tmp\/ready, only the leader is Ready, so 1 of 3 pods is available, and maxUnavailable 25% \(0 of 3\) keeps the old leader/,
    fix: /kubectl patch deployment\/leader-demo --type=merge -p '\{"spec":\{"strategy":\{"type":"Recreate"/,
  },
  {
    name: "The Deployment of a tutorial hangs: a script compares the pod with a ConfigMap",
    plant: singleActive,
    examine: null,
    check: "rollout",
    what: /^a rollout of Deployment single-active-nginx would hang: its readiness probe is "sh -c \/check-leader\.sh", which asks for the leader/,
    fix: /kubectl patch deployment\/single-active-nginx /,
  },
  {
    name: "Only the leader is Ready, for a reason that only its program knows",
    plant: (world) => {
      onClientGo(world);
      containerOf(world).readinessProbe = { httpGet: { path: "/ok", port: 8080 } };
      world.podStatus = (index) => readyFor(300_000, index === 0);
      world.budget = undefined;
    },
    check: "rollout",
    what: /a rollout of Deployment billing would hang: its standbys run, but have not been Ready for 5m/,
    fix: /strategy: \{type: Recreate\}/,
  },
  {
    name: "Only the leader of a StatefulSet is Ready",
    plant: (world) => {
      world.kind = "StatefulSet";
      delete world.deployment.spec.strategy;
      world.deployment.spec.serviceName = election;
      world.pods = [0, 1, 2].map((ordinal) => `${election}-${ordinal}`);
      Object.assign(world.lease?.spec ?? {}, { holderIdentity: world.pods[0] });
      containerOf(world).readinessProbe = readyFile;
      world.podStatus = (index) => readyFor(300_000, index === 0);
      world.budget = undefined;
    },
    check: "rollout",
    what: /^a rollout of StatefulSet billing would hang: .* a StatefulSet stops it only when the new pods are Ready/,
    fix: /"updateStrategy":\{"type":"OnDelete"/,
  },
  {
    name: "A liveness probe asks for leadership, so every standby is restarted again and again",
    plant: (world) => {
      containerOf(world).livenessProbe = { httpGet: { path: "/readyz?mode=leader", port: 8080 } };
    },
    check: "liveness",
    what: /^the kubelet restarts every standby of Deployment billing again and again: its liveness probe requests \/readyz\?mode=leader/,
    fix: /\/livez/,
  },
  {
    name: "A PodDisruptionBudget blocks every drain",
    plant: (world) => {
      Object.assign(world.budget ?? {}, { maxUnavailable: 0 });
    },
    check: "budget",
    what: /^PodDisruptionBudget billing \(maxUnavailable: 0\) never lets a pod of Deployment billing go: draining a node waits forever$/,
    fix: /kubectl patch poddisruptionbudget\/billing /,
  },
  {
    name: "A PodDisruptionBudget keeps the only Ready pod, the leader, on its node",
    plant: (world) => {
      containerOf(world).readinessProbe = readyFile;
      world.deployment.spec.strategy = { type: "Recreate" };
      world.podStatus = (index) => readyFor(300_000, index === 0);
    },
    check: "budget",
    what: /never lets the leader of Deployment billing go: it is the only Ready pod, and the budget wants 2/,
    fix: /kubectl delete poddisruptionbudget\/billing /,
  },
  {
    name: "The grace period ends before the child is stopped",
    plant: (world) => {
      world.deployment.spec.template.spec.terminationGracePeriodSeconds = 20;
    },
    check: "grace",
    what: /terminationGracePeriodSeconds must be at least 1s longer than --stop-timeout \(25s\), but is 20s/,
    fix: /^set terminationGracePeriodSeconds: 30/,
  },
];
