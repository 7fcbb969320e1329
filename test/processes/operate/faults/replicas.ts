import { record } from "../commands.ts";
import { type ApiObject, election, type World } from "../healthy.ts";
import { argsOfPods, containerOf, type Fault, onClientGo } from "./fault.ts";

/** The Lease in which a candidate shows itself. */
function shown(identity: string, standing = "waiting", reason = "another one leads"): ApiObject {
  return {
    kind: "Lease",
    metadata: {
      name: `${election}.candidate.${identity}`,
      labels: { "tenure.dev/candidate-of": election },
      annotations: {
        "tenure.dev/election-name": election,
        "tenure.dev/standing": standing,
        "tenure.dev/standing-reason": reason,
      },
    },
    spec: record(identity, { leaseDurationSeconds: 150 }),
  };
}

/** All candidates show themselves. */
export function showCandidates(world: World): void {
  world.others.push(...world.pods.map((name) => shown(name)));
}

/** Replicas that do not take part in the same election, or not as themselves. */
export const replicaFaults: readonly Fault[] = [
  {
    name: "All replicas have the same identity",
    plant: (world) => {
      containerOf(world).env = [{ name: "POD_NAME", value: "billing" }];
    },
    check: "identity",
    what: /3 replicas have the identity "billing"/,
    fix: /fieldPath: metadata\.name/,
  },
  {
    name: "No replica has an identity",
    plant: (world) => {
      containerOf(world).env = [];
    },
    check: "identity",
    what: /container app has no identity: neither POD_NAME nor --id/,
    fix: /fieldPath: metadata\.name/,
  },
  {
    name: "Two pods with `hostNetwork` share the name of their node as their identity",
    plant: (world) => {
      onClientGo(world);
      Object.assign(world.deployment.spec.template.spec, { hostNetwork: true });
      world.podSpec = (index, template) => ({ ...template, nodeName: index < 2 ? "node-a" : "node-b" });
      Object.assign(world.lease?.spec ?? {}, { holderIdentity: "node-a" });
    },
    check: "identity",
    what: /^2 replicas have the identity "node-a"/,
    fix: /fieldPath: metadata\.name/,
  },
  {
    name: "In the first rollout to an election, old pods work beside the leader",
    plant: (world) => argsOfPods(world, (index) => (index === 0 ? containerOf(world).args : ["./work"])),
    check: "unelected",
    what: /^2 pods of Deployment billing run without the election, beside the leader: billing-7d9f8c6b5d-y2y2y, billing-7d9f8c6b5d-z3z3z$/,
    fix: /kubectl scale deployment\/billing --replicas=0 -n doctor-\d+-\d+/,
  },
  {
    name: "The election of a program on client-go is switched off",
    plant: (world) => {
      onClientGo(world);
      containerOf(world).args = ["--leader-elect=false"];
      world.lease = undefined;
    },
    examine: null,
    check: "unelected",
    what: /^3 replicas of Deployment billing work at the same time: --leader-elect=false switches the election off$/,
    fix: /^set --leader-elect=true/,
  },
  {
    name: "Replicas use different names of the lock",
    plant: (world) =>
      argsOfPods(world, (index) =>
        containerOf(world).args.map((word) => (index === 2 ? word.replace("=billing", "=biling") : word)),
      ),
    check: "names",
    what: /^the pods of Deployment billing use different locks, so each lock has a leader: billing-7d9f8c6b5d-x1x1x, billing-7d9f8c6b5d-y2y2y use billing; billing-7d9f8c6b5d-z3z3z uses biling$/,
    fix: /one name of the lock/,
  },
  {
    name: "The name of the pod is in the name of the lock, so every replica leads",
    plant: (world) => {
      onClientGo(world);
      const container = containerOf(world);
      container.args = ["--leader-elect", "--leader-election-id=billing-$(POD_NAME)"];
      container.env = [{ name: "POD_NAME", valueFrom: { fieldRef: { fieldPath: "metadata.name" } } }];
      world.rules = [
        { apiGroups: ["coordination.k8s.io"], resources: ["leases"], verbs: ["create", "get", "update"] },
      ];
      world.lease = undefined;
      world.others = world.pods.map((pod) => ({
        kind: "Lease",
        metadata: { name: `billing-${pod}` },
        spec: record(`${pod}_5d2e`),
      }));
    },
    examine: null,
    check: "names",
    what: /^every replica of Deployment billing leads an election of its own: the name of the lock is billing-\$\(POD_NAME\)/,
    fix: /the same name of the lock/,
  },
  {
    name: "Replicas have different lease durations",
    plant: (world) =>
      argsOfPods(world, (index) => [
        "run",
        `--lease-duration=${index === 0 ? 15 : 60}s`,
        ...containerOf(world).args.slice(1),
      ]),
    check: "timings",
    what: /have different lease durations, .*: 15s in billing-7d9f8c6b5d-x1x1x; 1m in billing-7d9f8c6b5d-y2y2y, billing-7d9f8c6b5d-z3z3z$/,
    fix: /kubectl rollout restart deployment\/billing /,
  },
  {
    name: "A replica runs, but does not take part",
    plant: (world) => {
      world.others.push(...world.pods.slice(0, 2).map((name) => shown(name)));
    },
    check: "candidates",
    what: /^pod billing-7d9f8c6b5d-z3z3z of Deployment billing runs, but does not take part in the election$/,
    fix: /kubectl logs billing-7d9f8c6b5d-z3z3z -n doctor-\d+-\d+/,
  },
  {
    name: "A candidate cannot lead",
    plant: (world) => {
      const [first, second, third] = world.pods as [string, string, string];
      world.others.push(shown(first), shown(second), shown(third, "failing", "its requests are denied"));
    },
    check: "candidates",
    what: /^billing-7d9f8c6b5d-z3z3z cannot lead: its requests are denied/,
    fix: /kubectl logs billing-7d9f8c6b5d-z3z3z -n doctor-\d+-\d+/,
  },
];
