import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { type Body, connect, lease, leasesIn, MERGE_PATCH, type Target } from "./target.ts";

let target: Target;
let namespace: string;
let leases: string;

beforeAll(async () => {
  target = await connect();
});
afterAll(() => target.close());
beforeEach(async () => {
  namespace = await target.namespace();
  leases = leasesIn(namespace);
});

const create = async (name: string, metadata: Body = {}) =>
  (await target.request("POST", leases, lease(name, {}, metadata))).body;

test("a deleted object is removed, and deleting it again gets 404", async () => {
  const { metadata } = await create("a");
  const { status, body } = await target.request("DELETE", `${leases}/a`);
  expect(status).toBe(200);
  expect(body).toEqual({
    kind: "Status",
    apiVersion: "v1",
    metadata: {},
    status: "Success",
    details: { name: "a", group: "coordination.k8s.io", kind: "leases", uid: metadata.uid },
  });
  const again = await target.request("DELETE", `${leases}/a`);
  expect(again.status).toBe(404);
  expect(again.body.message).toBe('leases.coordination.k8s.io "a" not found');
});

test("preconditions on uid and resourceVersion are enforced", async () => {
  const { metadata } = await create("a");
  const wrongUid = await target.request("DELETE", `${leases}/a`, { preconditions: { uid: "x" } });
  expect(wrongUid.status).toBe(409);
  expect(wrongUid.body.message).toBe(
    `Operation cannot be fulfilled on Lease.coordination.k8s.io "a": the UID in the precondition (x) does not match the UID in record (${metadata.uid}). The object might have been deleted and then recreated`,
  );
  const wrongVersion = await target.request("DELETE", `${leases}/a`, {
    preconditions: { resourceVersion: "1" },
  });
  expect(wrongVersion.status).toBe(409);
  const right = { preconditions: { uid: metadata.uid, resourceVersion: metadata.resourceVersion } };
  expect((await target.request("DELETE", `${leases}/a`, right)).status).toBe(200);
});

test("a finalizer holds an object until it is removed", async () => {
  await create("a", { finalizers: ["example.com/hold"] });
  const { status, body } = await target.request("DELETE", `${leases}/a`);
  expect(status).toBe(200);
  expect(body).toMatchObject({
    kind: "Lease",
    metadata: { finalizers: ["example.com/hold"], deletionGracePeriodSeconds: 0 },
  });
  expect(body.metadata.deletionTimestamp).toMatch(/Z$/);
  const again = await target.request("DELETE", `${leases}/a`);
  expect(again.body.metadata.deletionTimestamp).toBe(body.metadata.deletionTimestamp);
  const { body: held } = await target.request("GET", `${leases}/a`);
  const freed = await target.request("PUT", `${leases}/a`, {
    ...held,
    metadata: { ...held.metadata, finalizers: [] },
  });
  expect(freed.status).toBe(200);
  expect((await target.request("GET", `${leases}/a`)).status).toBe(404);
});

test("no finalizer can be added to an object that is being deleted", async () => {
  await create("a", { finalizers: ["example.com/hold"] });
  const { body } = await target.request("DELETE", `${leases}/a`);
  const more = {
    ...body,
    metadata: { ...body.metadata, finalizers: ["example.com/hold", "example.com/more"] },
  };
  const { status, body: refused } = await target.request("PUT", `${leases}/a`, more);
  expect(status).toBe(422);
  expect(refused.message).toContain(
    'metadata.finalizers: Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers []string{"example.com/more"}',
  );
});

test("deleting a collection deletes only the objects that the selector matches", async () => {
  for (const name of ["x", "y", "z"]) await create(name, { labels: { k: name } });
  const { status, body } = await target.request("DELETE", `${leases}?labelSelector=k%20in%20(x,y)`);
  expect(status).toBe(200);
  expect(body.items.map((item: Body) => item.metadata.name)).toEqual(["x", "y"]);
  const left = await target.request("GET", leases);
  expect(left.body.items.map((item: Body) => item.metadata.name)).toEqual(["z"]);
});

test("a dry run deletes nothing", async () => {
  await create("a");
  expect((await target.request("DELETE", `${leases}/a?dryRun=All`)).status).toBe(200);
  expect((await target.request("GET", `${leases}/a`)).status).toBe(200);
});

test("an unknown propagation policy is rejected", async () => {
  await create("a");
  const { status, body } = await target.request("DELETE", `${leases}/a?propagationPolicy=Sideways`);
  expect(status).toBe(422);
  expect(body.message).toBe(
    'DeleteOptions.meta.k8s.io "" is invalid: propagationPolicy: Unsupported value: "Sideways": supported values: "Foreground", "Background", "Orphan", "nil"',
  );
});

test("the namespace default cannot be deleted", async () => {
  const { status, body } = await target.request("DELETE", "/api/v1/namespaces/default");
  expect(status).toBe(403);
  expect(body.message).toBe('namespaces "default" is forbidden: this namespace may not be deleted');
});

test("no object can be created in a namespace that is being deleted", async () => {
  const name = `${namespace}-going`;
  await target.request("POST", "/api/v1/namespaces", {
    metadata: { name, finalizers: ["example.com/hold"] },
  });
  const { body } = await target.request("DELETE", `/api/v1/namespaces/${name}`);
  expect(body).toMatchObject({ kind: "Namespace", status: { phase: "Terminating" } });
  const refused = await target.request("POST", leasesIn(name), lease("late"));
  expect(refused.status).toBe(403);
  expect(refused.body).toMatchObject({
    reason: "Forbidden",
    message: `leases.coordination.k8s.io "late" is forbidden: unable to create new content in namespace ${name} because it is being terminated`,
    details: { causes: [{ reason: "NamespaceTerminating", field: "metadata.namespace" }] },
  });
});

test("a write to a namespace that is being deleted does not remove it before its content", async () => {
  const name = `${namespace}-written`;
  await target.request("POST", "/api/v1/namespaces", { metadata: { name } });
  const held = lease("held", {}, { finalizers: ["example.com/hold"] });
  await target.request("POST", leasesIn(name), held);
  await target.request("DELETE", `/api/v1/namespaces/${name}`);
  for (const path of [`/api/v1/namespaces/${name}`, `/api/v1/namespaces/${name}/status`]) {
    const patch = { metadata: { annotations: { path } } };
    expect((await target.request("PATCH", path, patch, MERGE_PATCH)).status).toBe(200);
  }
  const { status, body } = await target.request("GET", `/api/v1/namespaces/${name}`);
  expect(status).toBe(200);
  expect(body.status.phase).toBe("Terminating");
  expect((await target.request("GET", `${leasesIn(name)}/held`)).status).toBe(200);
});
