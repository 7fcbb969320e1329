import { microTime, record } from "../commands.ts";
import { election, type World } from "../healthy.ts";
import { StandIn } from "../stand-in.ts";
import { containerOf, type Fault } from "./fault.ts";

const annotation = "control-plane.alpha.kubernetes.io/leader";

/** managedFields of a Lease with an annotation that was written days ago. */
const orderedDaysAgo = (order: string) => [
  {
    manager: "tenure-orders",
    operation: "Update",
    apiVersion: "coordination.k8s.io/v1",
    time: new Date(Date.now() - 3 * 86_400_000 - 3_600_000).toISOString().replace(/\.\d+/, ""),
    fieldsType: "FieldsV1",
    fieldsV1: { "f:metadata": { "f:annotations": { [`f:${order}`]: {} } } },
  },
];

/** No pod has the label of the leader. */
function withoutLeaderLabel(world: World): void {
  const labels = world.podLabels;
  world.podLabels = (index) => ({ ...labels(index), "tenure.dev/role": "standby" });
}

/** The lock, its record and its orders. */
export const lockFaults: readonly Fault[] = [
  {
    name: "A lease of a day",
    plant: (world) => {
      Object.assign(world.lease?.spec ?? {}, { leaseDurationSeconds: 86_400 });
    },
    check: "timings",
    what: /leaseDurationSeconds is 86400 \(1d\): after a crash nobody takes over for that long/,
    fix: /--lease-duration/,
  },
  {
    name: "The pod of the holder is gone",
    plant: (world) => {
      Object.assign(world.lease?.spec ?? {}, {
        holderIdentity: "billing-7d9f8c6b5d-gone1",
        leaseDurationSeconds: 4,
      });
      withoutLeaderLabel(world);
    },
    check: "stale",
    what: /^billing-7d9f8c6b5d-gone1 holds the lock, but its pod is gone/,
    fix: /^wait: other candidates may take it in/,
  },
  {
    name: "A process outside of the cluster renews with the name of a pod that is gone",
    plant: (world) => {
      world.lease = undefined;
      withoutLeaderLabel(world);
    },
    after: async ({ cluster, namespace }) => {
      const ghost = await StandIn.start(cluster.client, namespace, election, "billing-7d9f8c6b5d-ghost");
      return () => ghost.stop();
    },
    check: "identity",
    what: /^a process renews the lock as billing-7d9f8c6b5d-ghost, but no pod has this name/,
    fix: /give it its own identity/,
  },
  {
    name: "Nobody takes a lock that was released",
    plant: (world) => {
      world.lease = {
        spec: record("", { leaseDurationSeconds: 1, renewTime: microTime(60_000) }),
        metadata: { managedFields: [{}] },
      };
      withoutLeaderLabel(world);
    },
    check: "stale",
    what: /^Nobody leads: the lock was released 1m/,
    fix: /^the pods of Deployment billing are running but do not take it/,
  },
  {
    name: "Nobody takes an expired lock, because no candidate runs",
    plant: (world) => {
      const spec = record("other-host", { renewTime: microTime(120_000) });
      world.lease = { spec, metadata: { managedFields: [{}] } };
      world.deployment.spec.replicas = 0;
      world.pods = [];
    },
    check: "stale",
    what: /^Nobody leads: other-host last renewed 2m.* ago, and its lease expired 1m4\ds ago/,
    fix: /^Deployment billing has 0 replicas: scale it up\nkubectl scale deployment\/billing --replicas=2 /,
  },
  {
    name: "Leadership flaps",
    plant: (world) => {
      Object.assign(world.lease?.spec ?? {}, { leaseTransitions: 12 });
    },
    check: "flapping",
    what: /leadership changed 12 times in the last/,
    fix: /renew-deadline: the API server was slow/,
  },
  {
    name: "The clock of the holder is wrong",
    plant: (world) => {
      Object.assign(world.lease?.spec ?? {}, { renewTime: microTime(-90_000) });
    },
    check: "clock",
    what: /the clock of billing-7d9f8c6b5d-x1x1x is 1m\d\ds ahead of that of the API server/,
    fix: /NTP/,
  },
  {
    name: "A pause was forgotten",
    plant: (world) => {
      world.lease = {
        spec: record("", { leaseDurationSeconds: 1 }),
        metadata: {
          annotations: { "tenure.dev/paused": "true" },
          managedFields: orderedDaysAgo("tenure.dev/paused"),
        },
      };
      withoutLeaderLabel(world);
    },
    check: "orders",
    what: /^paused 3d1h ago: no candidate takes over$/,
    fix: /^tenure resume billing -n doctor-\d+-\d+ --kubeconfig /m,
  },
  {
    name: "The leader ignores the order to step down",
    plant: (world) => {
      if (!world.lease) return;
      world.lease.metadata = {
        annotations: { "tenure.dev/step-down": "0" },
        managedFields: orderedDaysAgo("tenure.dev/step-down"),
      };
    },
    check: "orders",
    what: /^billing-7d9f8c6b5d-x1x1x was told to hand over 3d1h ago and still leads/,
    fix: /^kubectl annotate lease billing tenure\.dev\/step-down- -n doctor-\d+-\d+/m,
  },
  {
    name: "The lock does not exist although a workload takes part",
    plant: (world) => {
      world.lease = undefined;
      withoutLeaderLabel(world);
    },
    check: "lock",
    what: /the lock does not exist although Deployment billing takes part/,
    fix: /kubectl logs deployment\/billing -n doctor-\d+-\d+/,
  },
  {
    name: "The record of the lock is not readable",
    plant: (world) => {
      world.lease = undefined;
      withoutLeaderLabel(world);
      containerOf(world).args.splice(1, 0, "--lock=configmap");
      world.rules.push({
        apiGroups: [""],
        resources: ["configmaps"],
        verbs: ["create", "get", "update", "watch"],
      });
      world.others.push({
        kind: "ConfigMap",
        metadata: { name: election, annotations: { [annotation]: "{" } },
      });
    },
    check: "record",
    what: /^the record is not readable: the annotation control-plane\.alpha\.kubernetes\.io\/leader is not a JSON object/,
    fix: /kubectl annotate configmap billing control-plane\.alpha\.kubernetes\.io\/leader- -n doctor-\d+-\d+/,
  },
  {
    name: "Two locks of different kinds have different holders",
    plant: (world) => {
      const { leaseTransitions, ...rest } = record("billing-old") as { leaseTransitions: number };
      const leader = JSON.stringify({ ...rest, leaderTransitions: leaseTransitions });
      world.others.push({
        kind: "ConfigMap",
        metadata: { name: election, annotations: { [annotation]: leader } },
      });
      world.rules.push({
        apiGroups: [""],
        resources: ["configmaps"],
        verbs: ["create", "get", "update", "watch"],
      });
    },
    check: "twins",
    what: /^there are two leaders: billing-7d9f8c6b5d-x1x1x holds the Lease, billing-old holds the ConfigMap/,
    fix: /--lock=configmap\+lease/,
  },
];
