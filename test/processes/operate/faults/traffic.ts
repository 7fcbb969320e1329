import { election, leader, service, type World } from "../healthy.ts";
import { containerOf, type Fault } from "./fault.ts";

function roles(world: World, roleOf: (index: number) => string): void {
  const labels = world.podLabels;
  world.podLabels = (index) => ({ ...labels(index), "tenure.dev/role": roleOf(index) });
}

const slices = { apiGroups: ["discovery.k8s.io"], resources: ["endpointslices"], verbs: ["*"] };
const services = { apiGroups: [""], resources: ["services", "endpoints"], verbs: ["*"] };

/** Traffic that does not go to the leader, or not only. */
export const trafficFaults: readonly Fault[] = [
  {
    name: "The label of the leader is on another pod",
    plant: (world) => roles(world, (index) => (index === 1 ? "leader" : "standby")),
    check: "traffic",
    what: /the pod billing-7d9f8c6b5d-y2y2y has the label tenure\.dev\/role=leader, but billing-7d9f8c6b5d-x1x1x leads/,
    fix: /^kubectl label pod billing-7d9f8c6b5d-y2y2y tenure\.dev\/role=standby --overwrite -n doctor-\d+-\d+/m,
  },
  {
    name: "Two pods have the label of the leader",
    plant: (world) => roles(world, (index) => (index < 2 ? "leader" : "standby")),
    check: "traffic",
    what: /2 pods have the label/,
    fix: /^kubectl label pod billing-7d9f8c6b5d-y2y2y tenure/m,
  },
  {
    name: "A Service reaches standbys",
    plant: (world) => {
      world.others = [service("billing", { app: election })];
    },
    check: "services",
    what: /^no Service selects the leader of Deployment billing by its label: billing sends traffic to standbys too$/,
    fix: /kubectl patch service\/billing --type=merge -p '\{"spec":\{"selector":\{"tenure\.dev\/role":"leader"\}\}\}' -n doctor-\d+-\d+/,
  },
  {
    name: "The Service of `--service` has a selector",
    plant: (world) => {
      const container = containerOf(world);
      container.args = container.args.map((word) => (word === "--label" ? "--service=billing" : word));
      world.rules.push(slices, services);
      world.others = [service("billing", { app: election })];
    },
    check: "services",
    what: /^Service billing has a selector, so Kubernetes adds every replica to it beside the leader$/,
    fix: /"selector":null/,
  },
  {
    name: "An EndpointSlice sends traffic to another pod",
    plant: (world) => {
      world.others.push({
        kind: "EndpointSlice",
        metadata: {
          name: "billing-leader",
          labels: {
            "tenure.dev/election": election,
            "endpointslice.kubernetes.io/managed-by": "tenure.dev",
          },
        },
        addressType: "IPv4",
        endpoints: [
          {
            addresses: ["10.0.0.2"],
            conditions: { ready: true },
            targetRef: { kind: "Pod", name: world.pods[1] },
          },
        ],
        ports: [],
      });
    },
    check: "traffic",
    what: new RegExp(
      `^EndpointSlice billing-leader sends traffic to billing-7d9f8c6b5d-y2y2y, but ${leader} leads`,
    ),
    fix: /^kubectl delete endpointslice billing-leader -n doctor-\d+-\d+/m,
  },
  {
    name: "A ConfigMap names another pod as the leader",
    plant: (world) => {
      containerOf(world).args.splice(1, 0, "--leader-configmap=leader-config");
      world.rules.push({ apiGroups: [""], resources: ["configmaps"], verbs: ["create", "get", "update"] });
      const metadata = { name: "leader-config", labels: { "tenure.dev/election": election } };
      world.others.push({ kind: "ConfigMap", metadata, data: { leader: "other", motto: "be kind" } });
    },
    check: "traffic",
    what: new RegExp(`^ConfigMap leader-config names other, but ${leader} leads$`),
    fix: /the leader repairs it/,
  },
];
