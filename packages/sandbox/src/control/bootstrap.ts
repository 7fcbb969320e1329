/**
 * The initial objects: the namespaces and the default roles of Kubernetes, as far as they mean something here. An
 * object that already exists is left unchanged.
 */
import { apiVersion, type Kind, keyOf } from "../objects/kind.ts";
import { namespace } from "../objects/kinds/namespace.ts";
import { clusterRole, clusterRoleBinding, type PolicyRule, rbacGroup } from "../objects/kinds/rbac.ts";
import type { ApiObject } from "../objects/object.ts";
import { formatTime } from "../objects/time.ts";
import type { Cluster } from "../registry/context.ts";

const initialNamespaces = ["default", "kube-node-lease", "kube-public", "kube-system"];

const readVerbs = ["get", "list", "watch"];
const writeVerbs = ["create", "delete", "deletecollection", "patch", "update"];
const coreResources = [
  "configmaps",
  "endpoints",
  "pods",
  "pods/status",
  "services",
  "services/status",
  "serviceaccounts",
];
const appsResources = [
  "deployments",
  "deployments/scale",
  "deployments/status",
  "replicasets",
  "replicasets/scale",
  "replicasets/status",
];
const rbacResources = ["roles", "rolebindings"];

const viewRules: PolicyRule[] = [
  {
    apiGroups: [""],
    resources: [...coreResources, "events", "namespaces", "namespaces/status"],
    verbs: readVerbs,
  },
  { apiGroups: ["apps"], resources: appsResources, verbs: readVerbs },
  { apiGroups: ["discovery.k8s.io"], resources: ["endpointslices"], verbs: readVerbs },
];
const editRules: PolicyRule[] = [
  ...viewRules,
  { apiGroups: [""], resources: ["secrets"], verbs: readVerbs },
  { apiGroups: [""], resources: ["serviceaccounts"], verbs: ["impersonate"] },
  {
    apiGroups: [""],
    resources: [...coreResources.filter((name) => !name.includes("/")), "secrets"],
    verbs: writeVerbs,
  },
  { apiGroups: [""], resources: ["serviceaccounts/token", "events"], verbs: ["create"] },
  { apiGroups: ["apps"], resources: appsResources, verbs: writeVerbs },
  { apiGroups: ["coordination.k8s.io"], resources: ["leases"], verbs: [...writeVerbs, ...readVerbs] },
];
const adminRules: PolicyRule[] = [
  ...editRules,
  { apiGroups: [rbacGroup], resources: rbacResources, verbs: [...writeVerbs, ...readVerbs] },
  { apiGroups: ["authorization.k8s.io"], resources: ["localsubjectaccessreviews"], verbs: ["create"] },
];

const publicPaths = ["/healthz", "/livez", "/readyz", "/version", "/version/"];
const discoveryPaths = [
  "/api",
  "/api/*",
  "/apis",
  "/apis/*",
  "/openapi",
  "/openapi/*",
  "/version",
  "/version/",
];

interface RoleDefinition {
  name: string;
  rules: PolicyRule[];
  groups?: string[];
}

const initialRoles: RoleDefinition[] = [
  {
    name: "cluster-admin",
    rules: [
      { apiGroups: ["*"], resources: ["*"], verbs: ["*"] },
      { nonResourceURLs: ["*"], verbs: ["*"] },
    ],
    groups: ["system:masters"],
  },
  { name: "admin", rules: adminRules },
  { name: "edit", rules: editRules },
  { name: "view", rules: viewRules },
  {
    name: "system:basic-user",
    rules: [
      {
        apiGroups: ["authorization.k8s.io"],
        resources: ["selfsubjectaccessreviews", "selfsubjectrulesreviews"],
        verbs: ["create"],
      },
      { apiGroups: ["authentication.k8s.io"], resources: ["selfsubjectreviews"], verbs: ["create"] },
    ],
    groups: ["system:authenticated"],
  },
  {
    name: "system:discovery",
    rules: [{ nonResourceURLs: discoveryPaths, verbs: ["get"] }],
    groups: ["system:authenticated"],
  },
  {
    name: "system:public-info-viewer",
    rules: [{ nonResourceURLs: publicPaths, verbs: ["get"] }],
    groups: ["system:authenticated", "system:unauthenticated"],
  },
];

type Target = Pick<Cluster, "store" | "platform">;

const roleLabels = { "kubernetes.io/bootstrapping": "rbac-defaults" };

/** Earlier versions stored this binding, and it then stayed in force without the option. */
const formerAnonymousBinding = keyOf(clusterRoleBinding, "", "tenure:anonymous");

export async function createInitialObjects(target: Target): Promise<void> {
  await target.store.commit(formerAnonymousBinding, () => "delete");
  for (const name of initialNamespaces) {
    const content = { spec: { finalizers: ["kubernetes"] }, status: { phase: "Active" } };
    await createOnce(target, namespace, name, content, { "kubernetes.io/metadata.name": name });
  }
  for (const { name, rules, groups } of initialRoles) {
    await createOnce(target, clusterRole, name, { rules }, roleLabels);
    if (groups) await bindClusterRole(target, name, name, groups);
  }
}

async function bindClusterRole(target: Target, name: string, role: string, groups: string[]): Promise<void> {
  const roleRef = { apiGroup: rbacGroup, kind: "ClusterRole", name: role };
  const subjects = groups.map((group) => ({ kind: "Group", apiGroup: rbacGroup, name: group }));
  await createOnce(target, clusterRoleBinding, name, { roleRef, subjects }, roleLabels);
}

async function createOnce(
  { store, platform }: Target,
  kind: Kind,
  name: string,
  content: object,
  labels: Record<string, string>,
): Promise<void> {
  await store.commit(keyOf(kind, "", name), (current) => {
    if (current) return undefined;
    const metadata = {
      name,
      uid: platform.uuid(),
      creationTimestamp: formatTime(platform.clock.now().wallMs),
      labels,
    };
    return { kind: kind.kind, apiVersion: apiVersion(kind), metadata, ...content } as ApiObject;
  });
}
