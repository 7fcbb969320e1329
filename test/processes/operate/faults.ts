/** Faults of a workload and its lock: how to cause each, and what the doctor must report. */
import { microTime, record } from "./commands.ts";
import type { World } from "./healthy.ts";

const containerOf = (world: World) => world.deployment.spec.template.spec.containers[0];

const pausedDaysAgo = [
  {
    manager: "tenure-orders",
    operation: "Update",
    apiVersion: "coordination.k8s.io/v1",
    time: new Date(Date.now() - 3 * 86_400_000 - 3_600_000).toISOString().replace(/\.\d+/, ""),
    fieldsType: "FieldsV1",
    fieldsV1: { "f:metadata": { "f:annotations": { "f:tenure.dev/paused": {} } } },
  },
];

/** Each is tested alone, and the doctor must report nothing else. */
export const faults: readonly {
  readonly name: string;
  readonly plant: (world: World) => void;
  readonly check: string;
  readonly what: RegExp;
  readonly fix: RegExp;
}[] = [
  {
    name: "a verb is missing in its Role",
    plant: (world) => {
      Object.assign(world.rules[1] as object, { verbs: ["get", "watch"] });
    },
    check: "rights",
    what: /^ServiceAccount doctor-\d+\/billing may not update leases "billing" in namespace/,
    fix: /rules:\n {2}- \{apiGroups: \["coordination\.k8s\.io"\], resources: \["leases"\], resourceNames: \["billing"\], verbs: \["update"\]\}$/,
  },
  {
    name: "a right that one of its flags needs is missing",
    plant: (world) => {
      world.rules.pop();
    },
    check: "rights",
    what: /may not get, list, patch pods/,
    fix: /\{apiGroups: \[""\], resources: \["pods"\], verbs: \["get", "list", "patch"\]\}$/,
  },
  {
    name: "only the leader is Ready, and a rollout waits for the others",
    plant: (world) => {
      containerOf(world).readinessProbe = { exec: { command: ["cat", "/tmp/ready"] } };
    },
    check: "rollout",
    what: /a rollout of Deployment billing would hang: its readiness probe checks \/tmp\/ready, only the leader is Ready/,
    fix: /strategy: \{type: Recreate\}/,
  },
  {
    name: "the grace period ends before the child is stopped",
    plant: (world) => {
      world.deployment.spec.template.spec.terminationGracePeriodSeconds = 20;
    },
    check: "grace",
    what: /terminationGracePeriodSeconds must be at least 1s longer than --stop-timeout \(25s\), but is 20s/,
    fix: /^set terminationGracePeriodSeconds: 30/,
  },
  {
    name: "all replicas have the same identity",
    plant: (world) => {
      containerOf(world).env = [{ name: "POD_NAME", value: "billing" }];
    },
    check: "identity",
    what: /3 replicas have the identity "billing"/,
    fix: /fieldPath: metadata\.name/,
  },
  {
    name: "no replica has an identity",
    plant: (world) => {
      containerOf(world).env = [];
    },
    check: "identity",
    what: /container app has no identity: neither POD_NAME nor --id/,
    fix: /fieldPath: metadata\.name/,
  },
  {
    name: "a lease of a day",
    plant: (world) => {
      Object.assign(world.lease?.spec ?? {}, { leaseDurationSeconds: 86_400 });
    },
    check: "timings",
    what: /leaseDurationSeconds is 86400 \(1d\): after a crash nobody takes over for that long/,
    fix: /--lease-duration/,
  },
  {
    name: "the pod of the holder is gone",
    plant: (world) => {
      Object.assign(world.lease?.spec ?? {}, {
        holderIdentity: "billing-7d9f8c6b5d-gone1",
        leaseDurationSeconds: 4,
      });
      const labels = world.podLabels;
      world.podLabels = (index) => ({ ...labels(index), "tenure.dev/role": "standby" });
    },
    check: "stale",
    what: /^billing-7d9f8c6b5d-gone1 holds the lock, but its pod is gone/,
    fix: /^wait: other candidates may take it in/,
  },
  {
    name: "nobody takes a lock that was released",
    plant: (world) => {
      world.lease = {
        spec: record("", { leaseDurationSeconds: 1, renewTime: microTime(60_000) }),
        metadata: { managedFields: [{}] },
      };
      const labels = world.podLabels;
      world.podLabels = (index) => ({ ...labels(index), "tenure.dev/role": "standby" });
    },
    check: "stale",
    what: /^Nobody leads: the lock was released 1m/,
    fix: /^the pods of Deployment billing are running but do not take it/,
  },
  {
    name: "nobody takes an expired lock, because no candidate runs",
    plant: (world) => {
      const spec = record("other-host", { renewTime: microTime(120_000) });
      world.lease = { spec, metadata: { managedFields: [{}] } };
      world.deployment.spec.replicas = 0;
      Object.assign(world, { pods: [] });
    },
    check: "stale",
    what: /^Nobody leads: other-host last renewed 2m.* ago, and its lease expired 1m4\ds ago/,
    fix: /^Deployment billing has 0 replicas: scale it up$/,
  },
  {
    name: "the label is on the wrong pod",
    plant: (world) => {
      const labels = world.podLabels;
      world.podLabels = (index) => ({
        ...labels(index),
        "tenure.dev/role": index === 1 ? "leader" : "standby",
      });
    },
    check: "traffic",
    what: /the pod billing-7d9f8c6b5d-y2y2y has the label tenure\.dev\/role=leader, but billing-7d9f8c6b5d-x1x1x leads/,
    fix: /^kubectl label pod billing-7d9f8c6b5d-y2y2y -n doctor-\d+ tenure\.dev\/role=standby --overwrite/,
  },
  {
    name: "two pods have the label",
    plant: (world) => {
      const labels = world.podLabels;
      world.podLabels = (index) => ({
        ...labels(index),
        "tenure.dev/role": index < 2 ? "leader" : "standby",
      });
    },
    check: "traffic",
    what: /2 pods have the label/,
    fix: /^kubectl label pod billing-7d9f8c6b5d-y2y2y [^\n]*$/,
  },
  {
    name: "leadership flaps",
    plant: (world) => {
      Object.assign(world.lease?.spec ?? {}, { leaseTransitions: 12 });
    },
    check: "flapping",
    what: /leadership changed 12 times in the last/,
    fix: /renew-deadline: the API server was slow/,
  },
  {
    name: "the clock of the holder is off",
    plant: (world) => {
      Object.assign(world.lease?.spec ?? {}, { renewTime: microTime(-90_000) });
    },
    check: "clock",
    what: /the clock of billing-7d9f8c6b5d-x1x1x is 1m\d\ds ahead of that of the API server/,
    fix: /NTP/,
  },
  {
    name: "a pause was forgotten",
    plant: (world) => {
      world.lease = {
        spec: record("", { leaseDurationSeconds: 1 }),
        // managedFields say that the order was written days ago.
        metadata: { annotations: { "tenure.dev/paused": "true" }, managedFields: pausedDaysAgo },
      };
      const labels = world.podLabels;
      world.podLabels = (index) => ({ ...labels(index), "tenure.dev/role": "standby" });
    },
    check: "orders",
    what: /^paused 3d1h ago: no candidate takes over$/,
    fix: /^tenure resume billing -n doctor-\d+$/,
  },
  {
    name: "the lock does not exist although a workload takes part",
    plant: (world) => {
      world.lease = undefined;
      const labels = world.podLabels;
      world.podLabels = (index) => ({ ...labels(index), "tenure.dev/role": "standby" });
    },
    check: "lock",
    what: /the lock does not exist although Deployment billing takes part/,
    fix: /kubectl logs/,
  },
];
