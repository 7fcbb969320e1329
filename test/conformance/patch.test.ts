import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import {
  APPLY_PATCH,
  type Body,
  configMap,
  configMapsIn,
  connect,
  JSON_PATCH,
  MERGE_PATCH,
  STRATEGIC_PATCH,
  type Target,
} from "./target.ts";

let target: Target;
let namespace: string;
let path: string;

beforeAll(async () => {
  target = await connect();
});
afterAll(() => target.close());
beforeEach(async () => {
  namespace = await target.namespace();
  path = `${configMapsIn(namespace)}/a`;
  await target.request(
    "POST",
    configMapsIn(namespace),
    configMap("a", { a: "1", b: "2" }, { labels: { x: "y" } }),
  );
});

test("a merge patch merges objects, and null deletes", async () => {
  const { status, body } = await target.request("PATCH", path, { data: { a: null, c: "3" } }, MERGE_PATCH);
  expect(status).toBe(200);
  expect(body.data).toEqual({ b: "2", c: "3" });
  expect(body.metadata.labels).toEqual({ x: "y" });
});

test("a JSON patch applies all of its operations or none", async () => {
  const good = [
    { op: "test", path: "/data/a", value: "1" },
    { op: "replace", path: "/data/a", value: "9" },
    { op: "remove", path: "/data/b" },
    { op: "add", path: "/metadata/labels/z", value: "w" },
  ];
  const { body } = await target.request("PATCH", path, good, JSON_PATCH);
  expect(body.data).toEqual({ a: "9" });
  expect(body.metadata.labels).toEqual({ x: "y", z: "w" });
  const bad = [
    { op: "replace", path: "/data/a", value: "10" },
    { op: "test", path: "/data/a", value: "not this" },
  ];
  const refused = await target.request("PATCH", path, bad, JSON_PATCH);
  expect(refused.status).toBe(422);
  expect(refused.body).toMatchObject({
    reason: "Invalid",
    message: "the server rejected our request due to an error in our request",
  });
  expect((await target.request("GET", path)).body.data).toEqual({ a: "9" });
});

test("a patch with an old resourceVersion conflicts", async () => {
  const { body: old } = await target.request("GET", path);
  await target.request("PATCH", path, { data: { a: "2" } }, MERGE_PATCH);
  const patch = { metadata: { resourceVersion: old.metadata.resourceVersion }, data: { a: "3" } };
  const { status, body } = await target.request("PATCH", path, patch, MERGE_PATCH);
  expect(status).toBe(409);
  expect(body.reason).toBe("Conflict");
});

test("a patch that changes nothing keeps the resourceVersion", async () => {
  const { body: old } = await target.request("GET", path);
  const { body } = await target.request("PATCH", path, { data: { a: "1" } }, MERGE_PATCH);
  expect(body.metadata.resourceVersion).toBe(old.metadata.resourceVersion);
});

test("a patch cannot rename or move an object", async () => {
  const renamed = await target.request("PATCH", path, { metadata: { name: "b" } }, MERGE_PATCH);
  expect(renamed.status).toBe(400);
  expect(renamed.body.message).toBe("the name of the object (b) does not match the name on the URL (a)");
  const moved = await target.request("PATCH", path, { metadata: { namespace: "b" } }, MERGE_PATCH);
  expect(moved.status).toBe(400);
});

test("a patch of fields that the server sets is ignored", async () => {
  const { body: old } = await target.request("GET", path);
  const patch = { metadata: { creationTimestamp: "2020-01-01T00:00:00Z", generation: 7 } };
  const { status, body } = await target.request("PATCH", path, patch, MERGE_PATCH);
  expect(status).toBe(200);
  expect(body.metadata.creationTimestamp).toBe(old.metadata.creationTimestamp);
  expect(body.metadata.generation).toBeUndefined();
});

test("a patch of a missing object gets 404", async () => {
  const { status, body } = await target.request("PATCH", `${configMapsIn(namespace)}/none`, {}, MERGE_PATCH);
  expect(status).toBe(404);
  expect(body.message).toBe('configmaps "none" not found');
});

test("an invalid patch gets 400", async () => {
  const broken = await target.request("PATCH", path, "{", MERGE_PATCH);
  expect(broken.status).toBe(400);
  expect(broken.body.message).toBe("error decoding patch: unexpected end of JSON input");
  expect((await target.request("PATCH", path, [], MERGE_PATCH)).status).toBe(400);
  expect((await target.request("PATCH", path, {}, JSON_PATCH)).status).toBe(400);
});

test("a patch in an unknown format gets 415", async () => {
  const { status, body } = await target.request("PATCH", path, {}, { contentType: "application/json" });
  expect(status).toBe(415);
  expect(body).toMatchObject({ reason: "UnsupportedMediaType", message: "415: Unsupported Media Type" });
});

test("an unknown field in a patch is rejected when validation is strict", async () => {
  const { status, body } = await target.request(
    "PATCH",
    `${path}?fieldValidation=Strict`,
    { foo: 1 },
    MERGE_PATCH,
  );
  expect(status).toBe(422);
  expect(body.message).toContain('strict decoding error: unknown field "foo"');
});

function deployment(): Body {
  const container = (name: string) => ({ name, image: `${name}:1`, ports: [{ containerPort: 80 }] });
  return {
    metadata: { name: "d" },
    spec: {
      selector: { matchLabels: { app: "d" } },
      template: {
        metadata: { labels: { app: "d" } },
        spec: { containers: [container("one"), container("two")] },
      },
    },
  };
}
const deployments = () => `/apis/apps/v1/namespaces/${namespace}/deployments`;
const containersOf = (body: Body) => body.spec.template.spec.containers;

test("a strategic merge patch merges lists by their key", async () => {
  await target.request("POST", deployments(), deployment());
  const containers = [
    { name: "two", image: "two:2" },
    { name: "three", image: "three:1" },
  ];
  const patch = { spec: { template: { spec: { containers } } } };
  const { status, body } = await target.request("PATCH", `${deployments()}/d`, patch, STRATEGIC_PATCH);
  expect(status).toBe(200);
  const images = Object.fromEntries(
    containersOf(body).map((container: Body) => [container.name, container.image]),
  );
  expect(images).toEqual({ one: "one:1", two: "two:2", three: "three:1" });
  expect(containersOf(body).find((container: Body) => container.name === "two").ports).toHaveLength(1);
});

test("a strategic merge patch deletes items and replaces maps by directive", async () => {
  await target.request("POST", deployments(), deployment());
  const patch = { spec: { template: { spec: { containers: [{ name: "one", $patch: "delete" }] } } } };
  const { body } = await target.request("PATCH", `${deployments()}/d`, patch, STRATEGIC_PATCH);
  expect(containersOf(body).map((container: Body) => container.name)).toEqual(["two"]);
  const replaced = await target.request(
    "PATCH",
    path,
    { data: { $patch: "replace", z: "1" } },
    STRATEGIC_PATCH,
  );
  expect(replaced.body.data).toEqual({ z: "1" });
});

test("a strategic merge patch adds to and deletes from lists of values", async () => {
  const added = await target.request("PATCH", path, { metadata: { finalizers: ["x/a"] } }, STRATEGIC_PATCH);
  expect(added.body.metadata.finalizers).toEqual(["x/a"]);
  const patch = { metadata: { "$deleteFromPrimitiveList/finalizers": ["x/a"] } };
  const removed = await target.request("PATCH", path, patch, STRATEGIC_PATCH);
  expect(removed.body.metadata.finalizers).toBeUndefined();
});

test("the status is written only through the status subresource", async () => {
  await target.request("POST", deployments(), deployment());
  const patch = { status: { observedGeneration: 1 }, spec: { replicas: 9 } };
  const status = await target.request("PATCH", `${deployments()}/d/status`, patch, MERGE_PATCH);
  expect(status.body.status.observedGeneration).toBe(1);
  expect(status.body.spec.replicas).toBe(1);
  expect(status.body.metadata.generation).toBe(1);
  const spec = await target.request(
    "PATCH",
    `${deployments()}/d`,
    { ...patch, status: { observedGeneration: 7 } },
    MERGE_PATCH,
  );
  expect(spec.body.status.observedGeneration).toBe(1);
  expect(spec.body.spec.replicas).toBe(9);
  expect(spec.body.metadata.generation).toBe(2);
});

test("a JSON patch reaches own fields only, and a later apply still works", async () => {
  for (const name of ["hasOwnProperty", "constructor", "__proto__", "toString"]) {
    const patch = [{ op: "add", path: `/data/${name}/call`, value: null }];
    const { status } = await target.request("PATCH", path, patch, JSON_PATCH);
    expect(status, name).toBe(422);
  }
  const added = [{ op: "add", path: "/data/constructor", value: "x" }];
  const { body } = await target.request("PATCH", path, added, JSON_PATCH);
  expect(body.data).toEqual({ a: "1", b: "2", constructor: "x" });
  const applied = { apiVersion: "v1", kind: "ConfigMap", data: { applied: "yes" } };
  const after = await target.request("PATCH", `${path}?fieldManager=m`, applied, APPLY_PATCH);
  expect(after.status).toBe(200);
});

test("a JSON patch can use negative indexes, and can replace a field that does not exist", async () => {
  const patch = [
    { op: "replace", path: "/data/new", value: "1" },
    { op: "add", path: "/metadata/finalizers", value: ["example.com/a", "example.com/b"] },
    { op: "remove", path: "/metadata/finalizers/-1" },
  ];
  const { status, body } = await target.request("PATCH", path, patch, JSON_PATCH);
  expect(status).toBe(200);
  expect(body.data.new).toBe("1");
  expect(body.metadata.finalizers).toEqual(["example.com/a"]);
});

test("a small JSON patch whose copies would fill the memory is rejected", async () => {
  const value = { x: "x".repeat(1000) };
  const copies = Array.from({ length: 24 }, (_, index) => ({
    op: "copy",
    from: "/metadata/annotations",
    path: `/metadata/annotations/c${index}`,
  }));
  const patch = [{ op: "add", path: "/metadata/annotations", value }, ...copies];
  const { status, body } = await target.request("PATCH", path, patch, JSON_PATCH);
  expect(status).toBe(422);
  expect(body.message).toBe("the server rejected our request due to an error in our request");
});

const replicaSets = () => `/apis/apps/v1/namespaces/${namespace}/replicasets`;
const named = (...names: string[]) => names.map((name) => ({ name, image: name }));

test.each([
  ["a new item", { containers: named("new") }, "new one two three"],
  ["a new item before an existing one", { containers: named("new", "two") }, "new one two three"],
  ["a new item behind an existing one", { containers: named("two", "new") }, "one two new three"],
  ["existing items in another order", { containers: named("three", "one") }, "two three one"],
  ["a deletion", { containers: [{ name: "two", $patch: "delete" }, ...named("new")] }, "new one three"],
  ["a replacement", { containers: [{ $patch: "replace" }, ...named("only")] }, "only"],
  [
    "an order",
    { "$setElementOrder/containers": named("three", "new", "one"), containers: named("new") },
    "two three new one",
  ],
])("a strategic merge patch orders a list with %s", async (_case, spec, expected) => {
  const template = { metadata: { labels: { a: "b" } }, spec: { containers: named("one", "two", "three") } };
  const replicaSet = { metadata: { name: "r" }, spec: { selector: { matchLabels: { a: "b" } }, template } };
  expect((await target.request("POST", replicaSets(), replicaSet)).status).toBe(201);
  const patch = { spec: { template: { spec } } };
  const { body } = await target.request("PATCH", `${replicaSets()}/r`, patch, STRATEGIC_PATCH);
  const names = body.spec.template.spec.containers.map(({ name }: Body) => name);
  expect(names.join(" ")).toBe(expected);
});

test("a strategic merge patch orders a list of values", async () => {
  const add = { metadata: { finalizers: ["example.com/c", "example.com/d"] } };
  await target.request("PATCH", path, add, MERGE_PATCH);
  const patch = { metadata: { finalizers: ["example.com/new", "example.com/d"] } };
  const { body } = await target.request("PATCH", path, patch, STRATEGIC_PATCH);
  expect(body.metadata.finalizers).toEqual(["example.com/new", "example.com/c", "example.com/d"]);
});
