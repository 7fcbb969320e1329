/**
 * The initial objects: the namespaces, roles, bindings, priority classes and the service "kubernetes" that every
 * cluster has. An object that already exists is left unchanged.
 */
import { readFileSync } from "node:fs";
import { apiVersion, type Kind, keyOf } from "../objects/kind.ts";
import { priorityClass } from "../objects/kinds/cluster.ts";
import { namespace } from "../objects/kinds/namespace.ts";
import { service } from "../objects/kinds/network.ts";
import { serviceCidr } from "../objects/kinds/networking.ts";
import { clusterRole, clusterRoleBinding, role, roleBinding } from "../objects/kinds/rbac.ts";
import type { ApiObject, JsonObject, ObjectMeta } from "../objects/object.ts";
import { formatTime } from "../objects/time.ts";
import type { Cluster } from "../registry/context.ts";

interface InitialObject {
  kind: Kind;
  metadata: ObjectMeta & { name: string };
  content: JsonObject;
}

const initialNamespaces = ["default", "kube-node-lease", "kube-public", "kube-system"].map(
  (name): InitialObject => ({
    kind: namespace,
    metadata: { name, labels: { "kubernetes.io/metadata.name": name } },
    content: { spec: { finalizers: ["kubernetes"] }, status: { phase: "Active" } },
  }),
);

const priority = (name: string, value: number, description: string): InitialObject => ({
  kind: priorityClass,
  metadata: { name, generation: 1 },
  content: { value, description, preemptionPolicy: "PreemptLowerPriority" },
});

const initialPriorities = [
  priority(
    "system-cluster-critical",
    2_000_000_000,
    "Used for system critical pods that must run in the cluster, but can be moved to another node if necessary.",
  ),
  priority(
    "system-node-critical",
    2_000_001_000,
    "Used for system critical pods that must not be moved from their current node.",
  ),
];

/** The addresses of services, and the first of them, which belongs to the API server. */
const serviceRange = "10.96.0.0/16";
export const apiServerAddress = "10.96.0.1";

const initialServices: InitialObject[] = [
  { kind: serviceCidr, metadata: { name: "kubernetes" }, content: { spec: { cidrs: [serviceRange] } } },
  {
    kind: service,
    metadata: {
      name: "kubernetes",
      namespace: "default",
      labels: { component: "apiserver", provider: "kubernetes" },
    },
    content: {
      spec: {
        clusterIP: apiServerAddress,
        clusterIPs: [apiServerAddress],
        internalTrafficPolicy: "Cluster",
        ipFamilies: ["IPv4"],
        ipFamilyPolicy: "SingleStack",
        ports: [{ name: "https", port: 443, protocol: "TCP", targetPort: 6443 }],
        sessionAffinity: "None",
        type: "ClusterIP",
      },
      status: { loadBalancer: {} },
    },
  },
];

/** gen/bootstrap.json holds the roles and bindings of Kubernetes. scripts/generate-bootstrap.mjs generates it. */
function initialRoles(): InitialObject[] {
  const file = new URL("../../gen/bootstrap.json", import.meta.url);
  const kinds = [clusterRole, clusterRoleBinding, role, roleBinding];
  return (JSON.parse(readFileSync(file, "utf8")) as ApiObject[]).map((object) => {
    const { kind, apiVersion: _version, metadata, ...content } = object;
    const found = kinds.find((candidate) => candidate.kind === kind) as Kind;
    return { kind: found, metadata: metadata as InitialObject["metadata"], content };
  });
}

type Target = Pick<Cluster, "store" | "platform">;

/** Earlier versions stored this binding, and it then stayed in force without the option. */
const formerAnonymousBinding = keyOf(clusterRoleBinding, "", "tenure:anonymous");

/** Creates all objects at once, so that a store on disk can write them together. */
export async function createInitialObjects(target: Target): Promise<void> {
  const objects = [...initialNamespaces, ...initialRoles(), ...initialPriorities, ...initialServices];
  await Promise.all([
    target.store.commit(formerAnonymousBinding, () => "delete"),
    ...objects.map((object) => createOnce(target, object)),
  ]);
}

async function createOnce({ store, platform }: Target, initial: InitialObject): Promise<void> {
  const { kind, metadata, content } = initial;
  await store.commit(keyOf(kind, metadata.namespace ?? "", metadata.name), (current) => {
    if (current) return undefined;
    const creationTimestamp = formatTime(platform.clock.now().wallMs);
    return {
      kind: kind.kind,
      apiVersion: apiVersion(kind),
      metadata: { ...metadata, uid: platform.uuid(), creationTimestamp },
      ...content,
    };
  });
}
