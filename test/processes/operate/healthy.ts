/** A namespace without faults: a workload with three replicas, its rights, its pods and its lock. Tests add one fault. */
import { leases, record, type TestCluster } from "./commands.ts";

export interface World {
  readonly cluster: TestCluster;
  readonly namespace: string;
  /** Names of its pods; the first leads. */
  readonly pods: readonly string[];
  deployment: Deployment;
  /** Rules of the Role that the workload's account has. */
  rules: object[];
  /** Labels of each pod. */
  podLabels(index: number): Record<string, string>;
  lease: { spec: object; metadata: Record<string, unknown> } | undefined;
}

interface Deployment {
  spec: {
    replicas: number;
    strategy: object;
    template: {
      spec: {
        terminationGracePeriodSeconds: number;
        containers: [{ name: string; image: string; args: string[]; env: object[]; readinessProbe: object }];
      };
    };
  };
}

export const election = "billing";

/** Like the output of `tenure manifests`: standbys are Ready, and traffic follows the label. */
export function healthy(cluster: TestCluster, namespace: string): World {
  const labels = { app: election };
  const pods = ["x1x1x", "y2y2y", "z3z3z"].map((suffix) => `${election}-7d9f8c6b5d-${suffix}`);
  return {
    cluster,
    namespace,
    pods,
    rules: [
      { apiGroups: ["coordination.k8s.io"], resources: ["leases"], verbs: ["create"] },
      {
        apiGroups: ["coordination.k8s.io"],
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
    } as Deployment,
    lease: {
      spec: record(pods[0] as string, {
        acquireTime: new Date(Date.now() - 60_000).toISOString().replace("Z", "000Z"),
      }),
      metadata: {},
    },
  };
}

/** Creates everything in the cluster. */
export async function settle(world: World): Promise<void> {
  const { cluster, namespace, deployment, pods, rules, lease } = world;
  await cluster.namespace(namespace);
  const core = `/api/v1/namespaces/${namespace}`;
  const rbac = `/apis/rbac.authorization.k8s.io/v1/namespaces/${namespace}`;
  const metadata = { name: election };
  await cluster.create(`${core}/serviceaccounts`, { metadata });
  await cluster.create(`${rbac}/roles`, { metadata, rules });
  await cluster.create(`${rbac}/rolebindings`, {
    metadata,
    roleRef: { apiGroup: "rbac.authorization.k8s.io", kind: "Role", name: election },
    subjects: [{ kind: "ServiceAccount", name: election, namespace }],
  });
  await cluster.create(`/apis/apps/v1/namespaces/${namespace}/deployments`, { metadata, ...deployment });
  // If the API server supports budgets, a missing one is reported as a hint.
  await cluster
    .create(`/apis/policy/v1/namespaces/${namespace}/poddisruptionbudgets`, {
      metadata,
      spec: { maxUnavailable: 1, selector: { matchLabels: { app: election } } },
    })
    .catch((error: { status?: number }) => {
      if (error.status !== 404) throw error;
    });
  for (const [index, name] of pods.entries()) {
    const { spec } = deployment.spec.template;
    await cluster.create(`${core}/pods`, { metadata: { name, labels: world.podLabels(index) }, spec });
    await cluster.client.request({
      method: "PATCH",
      path: `${core}/pods/${name}/status`,
      contentType: "application/merge-patch+json",
      body: { status: { phase: "Running" } },
    });
  }
  if (!lease) return;
  const { managedFields, ...others } = lease.metadata;
  const body = { ...lease, metadata: { ...metadata, ...others } };
  const created = await cluster.create<{ metadata: object }>(leases(namespace), body);
  if (managedFields === undefined) return;
  // The server records managedFields with every change. A write that changes nothing else can replace them.
  await cluster.client.request({
    method: "PUT",
    path: `${leases(namespace)}/${election}`,
    body: { ...created, metadata: { ...created.metadata, managedFields } },
  });
}
