import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { APPLY_PATCH, type Body, configMapsIn, connect, MERGE_PATCH, type Target } from "./target.ts";

let target: Target;
let namespace: string;

beforeAll(async () => {
  target = await connect();
});
afterAll(() => target.close());
beforeEach(async () => {
  namespace = await target.namespace();
});

function apply(manager: string, data: Body, query = "") {
  const object = { apiVersion: "v1", kind: "ConfigMap", metadata: { name: "a" }, data };
  const path = `${configMapsIn(namespace)}/a?${manager ? `fieldManager=${manager}` : ""}${query}`;
  return target.request("PATCH", path, JSON.stringify(object), APPLY_PATCH);
}
const owners = (body: Body) =>
  Object.fromEntries(body.metadata.managedFields.map((entry: Body) => [entry.manager, entry.fieldsV1]));

test("apply creates a missing object, and records who owns which field", async () => {
  const { status, body } = await apply("m1", { x: "1", y: "2" });
  expect(status).toBe(201);
  expect(body.data).toEqual({ x: "1", y: "2" });
  expect(body.metadata.managedFields).toEqual([
    {
      manager: "m1",
      operation: "Apply",
      apiVersion: "v1",
      time: expect.any(String),
      fieldsType: "FieldsV1",
      fieldsV1: { "f:data": { "f:x": {}, "f:y": {} } },
    },
  ]);
});

test("applying the same object again changes nothing", async () => {
  const first = await apply("m1", { x: "1" });
  const second = await apply("m1", { x: "1" });
  expect(second.status).toBe(200);
  expect(second.body.metadata.resourceVersion).toBe(first.body.metadata.resourceVersion);
});

test("a field that its owner no longer applies is removed", async () => {
  await apply("m1", { x: "1", y: "2" });
  const { body } = await apply("m1", { x: "1" });
  expect(body.data).toEqual({ x: "1" });
});

test("a field that another manager still owns is kept", async () => {
  await apply("m1", { x: "1", y: "2" });
  await apply("m2", { y: "2", z: "3" });
  const { body } = await apply("m1", { x: "1" });
  expect(body.data).toEqual({ x: "1", y: "2", z: "3" });
  expect(owners(body)).toEqual({
    m1: { "f:data": { "f:x": {} } },
    m2: { "f:data": { "f:y": {}, "f:z": {} } },
  });
});

test("changing the value of another manager's field is a conflict", async () => {
  await apply("m1", { x: "1" });
  const { status, body } = await apply("m2", { x: "9" });
  expect(status).toBe(409);
  expect(body).toMatchObject({
    reason: "Conflict",
    message: 'Apply failed with 1 conflict: conflict with "m1": .data.x',
    details: {
      causes: [{ reason: "FieldManagerConflict", message: 'conflict with "m1"', field: ".data.x" }],
    },
  });
});

test("a forced apply takes the field over", async () => {
  await apply("m1", { x: "1", y: "2" });
  const { status, body } = await apply("m2", { x: "9" }, "&force=true");
  expect(status).toBe(200);
  expect(body.data).toEqual({ x: "9", y: "2" });
  expect(owners(body)).toEqual({ m1: { "f:data": { "f:y": {} } }, m2: { "f:data": { "f:x": {} } } });
});

test("an update takes ownership of a field, so applying another value conflicts", async () => {
  await apply("m1", { x: "1" });
  const path = `${configMapsIn(namespace)}/a`;
  await target.request("PATCH", `${path}?fieldManager=editor`, { data: { x: "u", w: "1" } }, MERGE_PATCH);
  const { status, body } = await apply("m1", { x: "1", w: "5" });
  expect(status).toBe(409);
  expect(body.message).toBe(
    'Apply failed with 2 conflicts: conflicts with "editor" using v1:\n- .data.w\n- .data.x',
  );
});

test("apply needs a field manager", async () => {
  const { status, body } = await apply("", { x: "1" });
  expect(status).toBe(422);
  expect(body.message).toBe(
    'PatchOptions.meta.k8s.io "" is invalid: fieldManager: Required value: is required for apply patch',
  );
});

test("items of a list are owned by their key", async () => {
  const deployments = `/apis/apps/v1/namespaces/${namespace}/deployments`;
  const containers = [{ name: "c", image: "i:1", ports: [{ containerPort: 80 }] }];
  const object = {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name: "d" },
    spec: {
      selector: { matchLabels: { a: "b" } },
      template: { metadata: { labels: { a: "b" } }, spec: { containers } },
    },
  };
  const path = `${deployments}/d?fieldManager=m1`;
  await target.request("PATCH", path, JSON.stringify(object), APPLY_PATCH);
  const { body } = await target.request("PATCH", path, JSON.stringify(object), APPLY_PATCH);
  expect(body.spec.template.spec.containers[0].ports).toEqual([{ containerPort: 80, protocol: "TCP" }]);
  const template = owners(body).m1["f:spec"]["f:template"]["f:spec"]["f:containers"];
  expect(template['k:{"name":"c"}']).toMatchObject({
    ".": {},
    "f:image": {},
    "f:ports": { 'k:{"containerPort":80,"protocol":"TCP"}': { ".": {}, "f:containerPort": {} } },
  });
});

test("an update without managed fields keeps the owners of all fields that it does not change", async () => {
  await apply("m1", { x: "1" });
  const { body } = await apply("m2", { y: "2" });
  const { managedFields: _, ...metadata } = body.metadata;
  const updated = await target.request("PUT", `${configMapsIn(namespace)}/a?fieldManager=m3`, {
    ...body,
    metadata,
    data: { ...body.data, z: "3" },
  });
  expect(updated.status).toBe(200);
  expect(owners(updated.body)).toEqual({
    m1: { "f:data": { "f:x": {} } },
    m2: { "f:data": { "f:y": {} } },
    m3: { "f:data": { "f:z": {} } },
  });
});
