// Every kind can be created, and gets the defaults that clients and controllers rely on.
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Body, connect, type Target } from "./target.ts";

let target: Target;
let namespace: string;

beforeAll(async () => {
  target = await connect();
  namespace = await target.namespace();
  // kube-apiserver alone does not create this account.
  await target.request("POST", `/api/v1/namespaces/${namespace}/serviceaccounts`, {
    metadata: { name: "default" },
  });
});
afterAll(() => target.close());

const template = { metadata: { labels: { a: "b" } }, spec: { containers: [{ name: "c", image: "i:1" }] } };
const onceTemplate = { ...template, spec: { ...template.spec, restartPolicy: "Never" } };
const selector = { matchLabels: { a: "b" } };
const rule = { apiGroups: ["none"], apiVersions: ["v1"], operations: ["CREATE"], resources: ["none"] };
const webhook = {
  name: "a.b.c",
  admissionReviewVersions: ["v1"],
  sideEffects: "None",
  clientConfig: { service: { name: "s", namespace: "n" } },
  rules: [rule],
};
const claim = { devices: { requests: [{ name: "r", exactly: { deviceClassName: "c" } }] } };
const storage = { accessModes: ["ReadWriteOnce"], resources: { requests: { storage: "1Gi" } } };

/** Group and version, resource, whether it is namespaced, the object, and what the server adds. */
const samples: [string, string, boolean, Body, Body][] = [
  ["v1", "podtemplates", true, { template }, { template: { spec: { restartPolicy: "Always" } } }],
  [
    "v1",
    "replicationcontrollers",
    true,
    { spec: { template } },
    {
      metadata: { labels: { a: "b" } },
      spec: { replicas: 1, selector: { a: "b" } },
      status: { replicas: 0 },
    },
  ],
  [
    "apps/v1",
    "statefulsets",
    true,
    {
      spec: {
        selector,
        serviceName: "s",
        template,
        volumeClaimTemplates: [{ metadata: { name: "d" }, spec: storage }],
      },
    },
    {
      spec: {
        replicas: 1,
        podManagementPolicy: "OrderedReady",
        revisionHistoryLimit: 10,
        updateStrategy: { type: "RollingUpdate", rollingUpdate: { partition: 0 } },
        persistentVolumeClaimRetentionPolicy: { whenDeleted: "Retain", whenScaled: "Retain" },
        volumeClaimTemplates: [{ kind: "PersistentVolumeClaim", spec: { volumeMode: "Filesystem" } }],
      },
      status: { replicas: 0, availableReplicas: 0 },
    },
  ],
  [
    "apps/v1",
    "deployments",
    true,
    { spec: { selector, template, strategy: { rollingUpdate: { maxUnavailable: 0 } } } },
    { spec: { strategy: { type: "RollingUpdate", rollingUpdate: { maxUnavailable: 0, maxSurge: "25%" } } } },
  ],
  [
    "apps/v1",
    "daemonsets",
    true,
    { spec: { selector, template } },
    {
      metadata: { annotations: { "deprecated.daemonset.template.generation": "1" }, generation: 1 },
      spec: { updateStrategy: { type: "RollingUpdate", rollingUpdate: { maxUnavailable: 1, maxSurge: 0 } } },
    },
  ],
  ["apps/v1", "controllerrevisions", true, { data: { a: 1 }, revision: 1 }, { data: { a: 1 }, revision: 1 }],
  [
    "batch/v1",
    "jobs",
    true,
    { spec: { template: onceTemplate } },
    {
      spec: {
        completions: 1,
        parallelism: 1,
        backoffLimit: 6,
        completionMode: "NonIndexed",
        suspend: false,
        selector: { matchLabels: { "batch.kubernetes.io/controller-uid": expect.any(String) } },
        template: { metadata: { labels: { a: "b", "job-name": "sample" } } },
      },
    },
  ],
  [
    "batch/v1",
    "cronjobs",
    true,
    { spec: { schedule: "* * * * *", jobTemplate: { spec: { template: onceTemplate } } } },
    {
      spec: {
        concurrencyPolicy: "Allow",
        suspend: false,
        successfulJobsHistoryLimit: 3,
        failedJobsHistoryLimit: 1,
      },
    },
  ],
  [
    "autoscaling/v2",
    "horizontalpodautoscalers",
    true,
    { spec: { maxReplicas: 3, scaleTargetRef: { kind: "Deployment", name: "p", apiVersion: "apps/v1" } } },
    { spec: { minReplicas: 1, metrics: [{ type: "Resource", resource: { name: "cpu" } }] } },
  ],
  [
    "policy/v1",
    "poddisruptionbudgets",
    true,
    { spec: { minAvailable: 1, selector } },
    { metadata: { generation: 1 }, status: { disruptionsAllowed: 0, expectedPods: 0 } },
  ],
  [
    "networking.k8s.io/v1",
    "networkpolicies",
    true,
    { spec: { podSelector: {}, ingress: [{ ports: [{ port: 80 }] }] } },
    { spec: { policyTypes: ["Ingress"], ingress: [{ ports: [{ port: 80, protocol: "TCP" }] }] } },
  ],
  [
    "networking.k8s.io/v1",
    "ingresses",
    true,
    { spec: { defaultBackend: { service: { name: "s", port: { number: 80 } } } } },
    { metadata: { generation: 1 }, status: { loadBalancer: {} } },
  ],
  ["networking.k8s.io/v1", "ingressclasses", false, { spec: { controller: "a.b/c" } }, {}],
  ["networking.k8s.io/v1", "servicecidrs", false, { spec: { cidrs: ["10.9.0.0/16"] } }, { status: {} }],
  [
    "v1",
    "persistentvolumes",
    false,
    { spec: { capacity: { storage: "1Gi" }, accessModes: ["ReadWriteOnce"], hostPath: { path: "/x" } } },
    {
      spec: { persistentVolumeReclaimPolicy: "Retain", volumeMode: "Filesystem", hostPath: { type: "" } },
      status: { phase: "Pending" },
    },
  ],
  [
    "v1",
    "persistentvolumeclaims",
    true,
    { spec: storage },
    { spec: { volumeMode: "Filesystem" }, status: { phase: "Pending" } },
  ],
  [
    "storage.k8s.io/v1",
    "storageclasses",
    false,
    { provisioner: "a.b/c" },
    { reclaimPolicy: "Delete", volumeBindingMode: "Immediate" },
  ],
  ["storage.k8s.io/v1", "volumeattributesclasses", false, { driverName: "a.b", parameters: { a: "b" } }, {}],
  [
    "storage.k8s.io/v1",
    "csidrivers",
    false,
    { spec: {} },
    { spec: { attachRequired: true, podInfoOnMount: false, volumeLifecycleModes: ["Persistent"] } },
  ],
  ["storage.k8s.io/v1", "csinodes", false, { spec: { drivers: [] } }, { spec: { drivers: null } }],
  ["storage.k8s.io/v1", "csistoragecapacities", true, { storageClassName: "s" }, {}],
  [
    "storage.k8s.io/v1",
    "volumeattachments",
    false,
    { spec: { attacher: "a", nodeName: "n", source: { persistentVolumeName: "p" } } },
    { status: { attached: false } },
  ],
  [
    "resource.k8s.io/v1",
    "resourceclaims",
    true,
    { spec: claim },
    { spec: { devices: { requests: [{ exactly: { allocationMode: "ExactCount", count: 1 } }] } } },
  ],
  [
    "resource.k8s.io/v1",
    "resourceclaimtemplates",
    true,
    { spec: { spec: claim } },
    { spec: { spec: { devices: { requests: [{ exactly: { allocationMode: "ExactCount", count: 1 } }] } } } },
  ],
  [
    "resource.k8s.io/v1",
    "resourceslices",
    false,
    { spec: { driver: "d.e", nodeName: "n", pool: { name: "p", generation: 1, resourceSliceCount: 1 } } },
    {},
  ],
  ["resource.k8s.io/v1", "deviceclasses", false, { spec: {} }, {}],
  ["v1", "resourcequotas", true, { spec: { hard: { pods: "10" } } }, { status: {} }],
  [
    "v1",
    "limitranges",
    true,
    { spec: { limits: [{ type: "Container", default: { cpu: "1" } }] } },
    { spec: { limits: [{ defaultRequest: { cpu: "1" } }] } },
  ],
  [
    "scheduling.k8s.io/v1",
    "priorityclasses",
    false,
    { value: 10 },
    { preemptionPolicy: "PreemptLowerPriority" },
  ],
  ["node.k8s.io/v1", "runtimeclasses", false, { handler: "h" }, {}],
  [
    "admissionregistration.k8s.io/v1",
    "validatingadmissionpolicies",
    false,
    { spec: { matchConstraints: { resourceRules: [rule] }, validations: [{ expression: "true" }] } },
    { spec: { failurePolicy: "Fail", matchConstraints: { matchPolicy: "Equivalent", objectSelector: {} } } },
  ],
  [
    "admissionregistration.k8s.io/v1",
    "validatingadmissionpolicybindings",
    false,
    { spec: { policyName: "none", validationActions: ["Deny"] } },
    {},
  ],
  [
    "admissionregistration.k8s.io/v1",
    "validatingwebhookconfigurations",
    false,
    { webhooks: [webhook] },
    { webhooks: [{ failurePolicy: "Fail", timeoutSeconds: 10, clientConfig: { service: { port: 443 } } }] },
  ],
  [
    "admissionregistration.k8s.io/v1",
    "mutatingwebhookconfigurations",
    false,
    { webhooks: [webhook] },
    { webhooks: [{ reinvocationPolicy: "Never", rules: [{ scope: "*" }] }] },
  ],
  [
    "v1",
    "nodes",
    false,
    {},
    { spec: { taints: [{ key: "node.kubernetes.io/not-ready", effect: "NoSchedule" }] } },
  ],
];

test.each(samples)("%s %s", async (groupVersion, resource, namespaced, object, added) => {
  const root = groupVersion === "v1" ? "/api/v1" : `/apis/${groupVersion}`;
  const name = namespaced ? "sample" : `${namespace}-sample`;
  const path = `${root}${namespaced ? `/namespaces/${namespace}` : ""}/${resource}`;
  const { status, body } = await target.request("POST", path, { metadata: { name }, ...object });
  expect(status, body.message).toBe(201);
  expect(body).toMatchObject(added);
  const list = await target.request("GET", `${path}?fieldSelector=metadata.name%3D${name}`);
  expect(list.body.items).toHaveLength(1);
  expect(list.body.kind).toBe(`${body.kind}List`);
  const found = await target.request("GET", `${path}/${name}`);
  const again = await target.request("PUT", `${path}/${name}`, found.body);
  // A real server fills in more of a claim on its first update.
  if (resource !== "persistentvolumeclaims")
    expect(again.body.metadata.resourceVersion, "a PUT without changes").toBe(body.metadata.resourceVersion);
  const removed = await target.request("DELETE", `${path}/${name}`);
  expect(removed.status).toBe(200);
});

test("a pod gets a priority, and tolerations for nodes that fail for a short time", async () => {
  const pods = `/api/v1/namespaces/${namespace}/pods`;
  const { body } = await target.request("POST", pods, { metadata: { name: "p" }, spec: template.spec });
  expect(body.spec).toMatchObject({ priority: 0, preemptionPolicy: "PreemptLowerPriority" });
  const toleration = { operator: "Exists", effect: "NoExecute", tolerationSeconds: 300 };
  expect(body.spec.tolerations).toEqual([
    { key: "node.kubernetes.io/not-ready", ...toleration },
    { key: "node.kubernetes.io/unreachable", ...toleration },
  ]);
  const system = { ...template.spec, priorityClassName: "system-node-critical" };
  const critical = await target.request("POST", pods, { metadata: { name: "critical" }, spec: system });
  expect(critical.body.spec.priority).toBe(2_000_001_000);
  const unknown = { ...template.spec, priorityClassName: "none" };
  const rejected = await target.request("POST", pods, { metadata: { name: "bad" }, spec: unknown });
  expect(rejected.status).toBe(403);
  expect(rejected.body.message).toBe('pods "bad" is forbidden: no PriorityClass with name none was found');
});

test("every cluster has the service and the roles of Kubernetes", async () => {
  const { status, body } = await target.request("GET", "/api/v1/namespaces/default/services/kubernetes");
  expect(status).toBe(200);
  expect(body.spec.ports).toMatchObject([{ name: "https", port: 443, protocol: "TCP" }]);
  const roles = "/apis/rbac.authorization.k8s.io/v1/clusterroles";
  for (const name of ["system:controller:deployment-controller", "system:kube-scheduler", "view"])
    expect((await target.request("GET", `${roles}/${encodeURIComponent(name)}`)).status).toBe(200);
});

test("the data of a ControllerRevision keeps its order, with the escapes of Go: controllers compare its bytes", async () => {
  const path = `/apis/apps/v1/namespaces/${namespace}/controllerrevisions`;
  const data = { b: "x && y <z>", a: 1 };
  const { text } = await target.request("POST", path, { metadata: { name: "bytes" }, revision: 1, data });
  const expected = '"data":{"b":"x \\u0026\\u0026 y \\u003cz\\u003e","a":1}';
  expect(text).toContain(expected);
  expect((await target.request("GET", `${path}/bytes`)).text).toContain(expected);
  expect((await target.request("GET", path)).text).toContain(expected);
});
