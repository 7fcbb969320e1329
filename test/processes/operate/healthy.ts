/** A namespace without faults: a workload with three replicas, its rights, its pods and its lock. Tests add one fault. */
import { leases, microTime, record, type TestCluster } from "./commands.ts";

/** An object to create in the namespace. */
export interface ApiObject {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly [field: string]: unknown };
  readonly [field: string]: unknown;
}

export interface World {
  readonly cluster: TestCluster;
  readonly namespace: string;
  kind: "Deployment" | "StatefulSet" | "DaemonSet";
  /** Names of its pods; the first leads. */
  pods: readonly string[];
  deployment: Deployment;
  /** Rules of the Role that the workload's account has. */
  rules: object[];
  /** Labels of each pod. */
  podLabels(index: number): Record<string, string>;
  /** The spec of each pod, from that of the template. */
  podSpec(index: number, template: PodSpec): object;
  podStatus(index: number): object;
  budget: object | undefined;
  lease: { spec: object; metadata: Record<string, unknown> } | undefined;
  /** Created after everything else. */
  others: ApiObject[];
  /** Whether only `others` is created. */
  isEmpty: boolean;
}

export interface Container {
  name: string;
  image: string;
  command?: string[];
  args: string[];
  env: object[];
  readinessProbe: object;
  livenessProbe?: object;
}

interface PodSpec {
  serviceAccountName: string;
  terminationGracePeriodSeconds: number;
  containers: [Container];
  [field: string]: unknown;
}

interface Deployment {
  spec: {
    replicas?: number;
    strategy?: object;
    template: { metadata: { labels: Record<string, string> }; spec: PodSpec };
    [field: string]: unknown;
  };
}

export const election = "billing";
const leasesGroup = "coordination.k8s.io";
export const leader = `${election}-7d9f8c6b5d-x1x1x`;

/** The condition of a pod that has been Ready, or not, for this long. */
export function readyFor(ms: number, isReady = true): object {
  const lastTransitionTime = new Date(Date.now() - ms).toISOString().replace(/\.\d+/, "");
  return {
    phase: "Running",
    conditions: [{ type: "Ready", status: isReady ? "True" : "False", lastTransitionTime }],
  };
}

/** Like the output of `tenure manifests`: standbys are Ready, and traffic follows the label. */
export function healthy(cluster: TestCluster, namespace: string): World {
  const labels = { app: election };
  const pods = ["x1x1x", "y2y2y", "z3z3z"].map((suffix) => `${election}-7d9f8c6b5d-${suffix}`);
  return {
    cluster,
    namespace,
    kind: "Deployment",
    pods,
    rules: [
      { apiGroups: [leasesGroup], resources: ["leases"], verbs: ["create"] },
      {
        apiGroups: [leasesGroup],
        resources: ["leases"],
        resourceNames: [election],
        verbs: ["get", "update", "watch"],
      },
      { apiGroups: [""], resources: ["pods"], verbs: ["get", "list", "patch"] },
    ],
    podLabels: (index) => ({
      ...labels,
      "tenure.dev/election": election,
      "tenure.dev/role": index === 0 ? "leader" : "standby",
    }),
    podSpec: (_index, template) => template,
    podStatus: () => readyFor(300_000),
    deployment: {
      spec: {
        replicas: 3,
        selector: { matchLabels: labels },
        strategy: { type: "RollingUpdate", rollingUpdate: { maxUnavailable: "25%", maxSurge: "25%" } },
        template: {
          metadata: { labels },
          spec: {
            serviceAccountName: election,
            terminationGracePeriodSeconds: 30,
            containers: [
              {
                name: "app",
                image: "example.com/billing:1",
                args: [
                  "run",
                  `--lease-lock-name=${election}`,
                  "--stop-timeout=25s",
                  "--label",
                  "--",
                  "./work",
                ],
                env: [{ name: "POD_NAME", valueFrom: { fieldRef: { fieldPath: "metadata.name" } } }],
                readinessProbe: { httpGet: { path: "/readyz", port: 8080 } },
              },
            ],
          },
        },
      },
    },
    budget: { maxUnavailable: 1, selector: { matchLabels: labels } },
    lease: { spec: record(pods[0] as string, { acquireTime: microTime(120_000) }), metadata: {} },
    others: [service("billing", { ...labels, "tenure.dev/role": "leader" })],
    isEmpty: false,
  };
}

export function service(name: string, selector: object | undefined): ApiObject {
  return {
    kind: "Service",
    metadata: { name },
    spec: { ports: [{ port: 80 }], ...(selector && { selector }) },
  };
}

const paths: Readonly<Record<string, string>> = {
  ConfigMap: "/api/v1/namespaces/%/configmaps",
  EndpointSlice: "/apis/discovery.k8s.io/v1/namespaces/%/endpointslices",
  Lease: "/apis/coordination.k8s.io/v1/namespaces/%/leases",
  Pod: "/api/v1/namespaces/%/pods",
  PodDisruptionBudget: "/apis/policy/v1/namespaces/%/poddisruptionbudgets",
  Role: "/apis/rbac.authorization.k8s.io/v1/namespaces/%/roles",
  RoleBinding: "/apis/rbac.authorization.k8s.io/v1/namespaces/%/rolebindings",
  Service: "/api/v1/namespaces/%/services",
  ServiceAccount: "/api/v1/namespaces/%/serviceaccounts",
  Deployment: "/apis/apps/v1/namespaces/%/deployments",
  StatefulSet: "/apis/apps/v1/namespaces/%/statefulsets",
  DaemonSet: "/apis/apps/v1/namespaces/%/daemonsets",
};

export function pathOf(kind: string, namespace: string): string {
  const path = paths[kind];
  if (path === undefined) throw new Error(`no path for ${kind}`);
  return path.replace("%", namespace);
}

/** Creates an object, with its status if it has one. */
export async function create(
  { cluster, namespace }: Pick<World, "cluster" | "namespace">,
  { kind, status, apiVersion: _version, ...object }: ApiObject,
): Promise<void> {
  const path = pathOf(kind, namespace);
  await cluster.create(path, object);
  if (status === undefined) return;
  await cluster.client.request({
    method: "PATCH",
    path: `${path}/${object.metadata.name}/status`,
    contentType: "application/merge-patch+json",
    body: { status },
  });
}

/** An account with these rights. */
export function accountObjects(name: string, namespace: string, rules: readonly object[]): ApiObject[] {
  const metadata = { name };
  return [
    { kind: "ServiceAccount", metadata },
    { kind: "Role", metadata, rules },
    {
      kind: "RoleBinding",
      metadata,
      roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "Role", name },
      subjects: [{ kind: "ServiceAccount", name, namespace }],
    },
  ];
}

/** Creates everything in the cluster. */
export async function settle(world: World): Promise<void> {
  await world.cluster.namespace(world.namespace);
  if (!world.isEmpty) await settleWorkload(world);
  for (const object of world.others) await create(world, object);
}

async function settleWorkload(world: World): Promise<void> {
  const { namespace, deployment, kind, pods, rules, budget } = world;
  const metadata = { name: election };
  for (const object of accountObjects(election, namespace, rules)) await create(world, object);
  const count = pods.length;
  // The controllers that write a status do not run here. Only that of a DaemonSet matters: it has no number of replicas.
  const status = {
    desiredNumberScheduled: count,
    currentNumberScheduled: count,
    numberReady: count,
    numberMisscheduled: 0,
  };
  await create(world, { kind, metadata, ...deployment, ...(kind === "DaemonSet" && { status }) });
  if (budget) await create(world, { kind: "PodDisruptionBudget", metadata, spec: budget });
  for (const [index, name] of pods.entries()) {
    await create(world, {
      kind: "Pod",
      metadata: { name, labels: world.podLabels(index) },
      spec: world.podSpec(index, deployment.spec.template.spec),
      status: world.podStatus(index),
    });
  }
  await settleLease(world);
}

async function settleLease({ cluster, namespace, lease }: World): Promise<void> {
  if (!lease) return;
  const { managedFields, ...others } = lease.metadata;
  const body = { ...lease, metadata: { name: election, ...others } };
  const created = await cluster.create<{ metadata: object }>(leases(namespace), body);
  if (managedFields === undefined) return;
  // The server records managedFields with every change. A write that changes nothing else can replace them.
  await cluster.client.request({
    method: "PUT",
    path: `${leases(namespace)}/${election}`,
    body: { ...created, metadata: { ...created.metadata, managedFields } },
  });
}
