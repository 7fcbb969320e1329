import { afterAll, beforeAll, expect, test } from "vitest";
import { type Body, connect, type Target } from "./target.ts";

let target: Target;

beforeAll(async () => {
  target = await connect();
});
afterAll(() => target.close());

test("the version is that of Kubernetes", async () => {
  const { body } = await target.request("GET", "/version");
  expect(body.gitVersion).toMatch(/^v1\.\d+\.\d+/);
  expect(body.major).toBe("1");
});

test("a group lists its resources, their verbs and short names", async () => {
  const { body } = await target.request("GET", "/apis/coordination.k8s.io/v1");
  expect(body).toMatchObject({ kind: "APIResourceList", groupVersion: "coordination.k8s.io/v1" });
  const lease = body.resources.find((resource: Body) => resource.name === "leases");
  expect(lease).toMatchObject({ singularName: "lease", namespaced: true, kind: "Lease" });
  expect([...lease.verbs].sort()).toEqual([
    "create",
    "delete",
    "deletecollection",
    "get",
    "list",
    "patch",
    "update",
    "watch",
  ]);
  const { body: core } = await target.request("GET", "/api/v1");
  expect(core.resources.find((resource: Body) => resource.name === "configmaps").shortNames).toEqual(["cm"]);
  expect(core.resources.find((resource: Body) => resource.name === "serviceaccounts/token")).toMatchObject({
    group: "authentication.k8s.io",
    version: "v1",
    kind: "TokenRequest",
    verbs: ["create"],
  });
});

test("aggregated discovery returns all groups in one document", async () => {
  const accept = "application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList";
  const { body, headers } = await target.request("GET", "/apis", undefined, { accept });
  expect(headers["content-type"]).toBe(accept);
  expect(body).toMatchObject({ kind: "APIGroupDiscoveryList", apiVersion: "apidiscovery.k8s.io/v2" });
  const coordination = body.items.find((item: Body) => item.metadata.name === "coordination.k8s.io");
  const lease = coordination.versions[0].resources.find((resource: Body) => resource.resource === "leases");
  expect(lease).toMatchObject({
    responseKind: { kind: "Lease" },
    scope: "Namespaced",
    singularResource: "lease",
  });
});

test("OpenAPI v3 describes a Lease, and says that fields are validated", async () => {
  const { body: index } = await target.request("GET", "/openapi/v3");
  const { paths } = typeof index === "string" ? JSON.parse(index) : index;
  const { serverRelativeURL } = paths["apis/coordination.k8s.io/v1"];
  const { body } = await target.request("GET", serverRelativeURL);
  const spec = body.components.schemas["io.k8s.api.coordination.v1.LeaseSpec"];
  expect(spec.properties.leaseDurationSeconds).toMatchObject({ type: "integer", format: "int32" });
  expect(spec.properties.renewTime.description).toContain("last updated the lease");
  const { patch } = body.paths["/apis/coordination.k8s.io/v1/namespaces/{namespace}/leases/{name}"];
  expect(patch.parameters.map((parameter: Body) => parameter.name)).toContain("fieldValidation");
  expect(patch["x-kubernetes-group-version-kind"]).toEqual({
    group: "coordination.k8s.io",
    version: "v1",
    kind: "Lease",
  });
});

test("Endpoints are supported for legacy locks, with a deprecation warning", async () => {
  const namespace = await target.namespace();
  const annotations = { "control-plane.alpha.kubernetes.io/leader": '{"holderIdentity":"x"}' };
  const path = `/api/v1/namespaces/${namespace}/endpoints`;
  const { status, body, headers } = await target.request("POST", path, {
    metadata: { name: "lock", annotations },
  });
  expect(status).toBe(201);
  expect(body.metadata.annotations).toEqual(annotations);
  const warning = '299 - "v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice"';
  expect(headers.warning).toBe((await target.minor()) >= 33 ? warning : undefined);
});

test("an Event can be read through both API groups", async () => {
  const namespace = await target.namespace();
  const event = {
    metadata: { name: "e" },
    involvedObject: { kind: "Lease", name: "x", namespace },
    reason: "LeaderElection",
    message: "a became leader",
    type: "Normal",
  };
  expect((await target.request("POST", `/api/v1/namespaces/${namespace}/events`, event)).status).toBe(201);
  const { body } = await target.request("GET", `/apis/events.k8s.io/v1/namespaces/${namespace}/events/e`);
  expect(body).toMatchObject({
    apiVersion: "events.k8s.io/v1",
    regarding: { kind: "Lease", name: "x" },
    note: "a became leader",
    reason: "LeaderElection",
  });
});

test.each([
  ["policy/v1", "poddisruptionbudgets", { shortNames: ["pdb"], kind: "PodDisruptionBudget" }],
  ["apps/v1", "statefulsets", { shortNames: ["sts"], categories: ["all"] }],
  ["apps/v1", "statefulsets/scale", { group: "autoscaling", kind: "Scale" }],
  ["batch/v1", "cronjobs/status", { kind: "CronJob", verbs: ["get", "patch", "update"] }],
  ["networking.k8s.io/v1", "networkpolicies", { singularName: "networkpolicy", shortNames: ["netpol"] }],
  ["storage.k8s.io/v1", "storageclasses", { namespaced: false, shortNames: ["sc"] }],
  ["admissionregistration.k8s.io/v1", "validatingadmissionpolicies", { categories: ["api-extensions"] }],
  ["certificates.k8s.io/v1", "certificatesigningrequests/approval", { verbs: ["get", "patch", "update"] }],
  ["resource.k8s.io/v1", "resourceslices", { namespaced: false, kind: "ResourceSlice" }],
])("%s lists %s", async (groupVersion, name, expected) => {
  const { body } = await target.request("GET", `/apis/${groupVersion}`);
  expect(body.resources.find((resource: Body) => resource.name === name)).toMatchObject(expected);
});

test("OpenAPI v2 describes the types, as JSON and as protobuf", async () => {
  const { status, body } = await target.request("GET", "/openapi/v2");
  expect(status).toBe(200);
  expect(body.swagger).toBe("2.0");
  const budget = body.definitions["io.k8s.api.policy.v1.PodDisruptionBudget"];
  expect(budget["x-kubernetes-group-version-kind"]).toEqual([
    { group: "policy", kind: "PodDisruptionBudget", version: "v1" },
  ]);
  expect(budget.properties.spec).toMatchObject({
    $ref: "#/definitions/io.k8s.api.policy.v1.PodDisruptionBudgetSpec",
  });
  const protobuf = "application/com.github.proto-openapi.spec.v2.v1.0+protobuf";
  const { headers } = await target.request("GET", "/openapi/v2", undefined, { accept: protobuf });
  expect(headers["content-type"]).toBe(protobuf);
});
