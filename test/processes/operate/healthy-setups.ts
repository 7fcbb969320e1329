/** Set-ups in which the doctor must find nothing. Each changes the healthy workload of healthy.ts. */
import { microTime, record } from "./commands.ts";
import { containerOf, onClientGo } from "./faults/fault.ts";
import { showCandidates } from "./faults/replicas.ts";
import { type ApiObject, election, readyFor, type World } from "./healthy.ts";
import { shippedLeaderDemo } from "./tutorial.ts";

export interface Setup {
  readonly name: string;
  readonly plant: (world: World) => void;
  /** Null for the whole namespace. */
  readonly examine?: string | null;
  /** The checks of which hints are expected. */
  readonly hints?: readonly string[];
}

const withoutTraffic = (world: World) => {
  world.podLabels = () => ({ app: election });
  world.rules.pop();
  world.others = [];
};

/** A component of the control plane, as kubeadm starts it: with the identity of its host and a kubeconfig of its own. */
function component(name: string): ApiObject[] {
  return [
    {
      kind: "Pod",
      metadata: {
        name: `${name}-node-a`,
        ownerReferences: [
          {
            apiVersion: "v1",
            kind: "Node",
            name: "node-a",
            uid: "8f0c9a3e-0d8c-4a64-93c6-0a7f5f1f2b11",
            controller: true,
          },
        ],
      },
      spec: {
        hostNetwork: true,
        nodeName: "node-a",
        containers: [
          {
            name,
            image: "example.com/k8s:1",
            command: [name, "--leader-elect=true", `--kubeconfig=/etc/kubernetes/${name}.conf`],
          },
        ],
      },
      status: readyFor(300_000),
    },
    {
      kind: "Lease",
      metadata: { name },
      spec: record("node-a_6b1f0f0e-2a55-4a0e-8f0b-8e9a5d8b7c11", { acquireTime: microTime(3_600_000) }),
    },
  ];
}

export const setups: readonly Setup[] = [
  { name: "tenure run in a Deployment, with traffic by label", plant: () => {} },
  {
    name: "tenure sidecar beside an application",
    plant: (world) => {
      const container = containerOf(world);
      const { args, env } = container;
      world.deployment.spec.template.spec.initContainers = [
        {
          name: "tenure",
          image: "example.com/tenure:1",
          restartPolicy: "Always",
          args: ["sidecar", ...args.slice(1, args.indexOf("--"))],
          env,
        },
      ];
      Object.assign(container, {
        args: ["node", "app.js"],
        lifecycle: { preStop: { exec: { command: ["stop"] } } },
      });
    },
  },
  {
    name: "a program on the library, without flags",
    plant: (world) => {
      withoutTraffic(world);
      Object.assign(containerOf(world), { command: ["npm", "run", "worker"], args: [], env: [] });
      showCandidates(world);
    },
  },
  { name: "an operator on client-go, with --leader-elect", plant: (world) => onClientGo(world) },
  {
    name: "a program on client-go without flags, by the owner of its pod",
    plant: (world) => {
      onClientGo(world);
      containerOf(world).args = [];
    },
    examine: null,
  },
  {
    name: "tenure run in a StatefulSet",
    plant: (world) => {
      withoutTraffic(world);
      const container = containerOf(world);
      container.args = container.args.filter((word) => word !== "--label");
      world.kind = "StatefulSet";
      delete world.deployment.spec.strategy;
      world.deployment.spec.serviceName = election;
      world.pods = [0, 1, 2].map((ordinal) => `${election}-${ordinal}`);
      Object.assign(world.lease?.spec ?? {}, { holderIdentity: world.pods[0] });
    },
  },
  {
    name: "client-go in a DaemonSet with hostNetwork, one pod on each node",
    plant: (world) => {
      onClientGo(world);
      world.kind = "DaemonSet";
      delete world.deployment.spec.strategy;
      delete world.deployment.spec.replicas;
      world.pods = ["a1a1a", "b2b2b", "c3c3c"].map((suffix) => `${election}-${suffix}`);
      Object.assign(world.deployment.spec.template.spec, { hostNetwork: true });
      world.podSpec = (index, template) => ({ ...template, nodeName: `node-${index}` });
      Object.assign(world.lease?.spec ?? {}, { holderIdentity: "node-0_77aa" });
    },
  },
  {
    name: "the guide of this repository in which only the leader is Ready",
    plant: shippedLeaderDemo,
    examine: "example-leader-election",
    hints: ["rollout"],
  },
  {
    name: "the elections of the control plane",
    plant: (world) => {
      world.isEmpty = true;
      world.others = [
        ...component("kube-controller-manager"),
        ...component("kube-scheduler"),
        {
          kind: "Lease",
          metadata: {
            name: "apiserver-7f4z",
            labels: { "apiserver.kubernetes.io/identity": "kube-apiserver" },
          },
          spec: record("apiserver-7f4z_1", { leaseDurationSeconds: 3_600 }),
        },
      ];
    },
    examine: null,
  },
  {
    name: "a workload without an election whose readiness probe checks a file",
    plant: (world) => {
      onClientGo(world);
      const container = containerOf(world);
      container.args = [];
      container.readinessProbe = { exec: { command: ["cat", "/tmp/ready"] } };
      world.lease = undefined;
    },
    examine: null,
  },
  {
    name: "candidates outside of the cluster",
    plant: (world) => {
      world.isEmpty = true;
      world.others = [{ kind: "Lease", metadata: { name: election }, spec: record("my-laptop") }];
    },
  },
  {
    name: "a namespace without an election",
    plant: (world) => {
      world.isEmpty = true;
      world.others = [];
    },
    examine: null,
  },
];
