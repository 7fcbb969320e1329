import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { configMap, configMapsIn, connect, lease, leasesIn, MERGE_PATCH, type Target } from "./target.ts";

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

const revision = async () => (await target.request("GET", leases)).body.metadata.resourceVersion as string;
const rename = (name: string, holderIdentity: string) =>
  target.request("PATCH", `${leases}/${name}`, { spec: { holderIdentity } }, MERGE_PATCH);

test("a watch from a revision sees every later change, in order", async () => {
  const watch = await target.watch(`${leases}?watch=1&resourceVersion=${await revision()}`);
  const created = await target.request("POST", leases, lease("a", { holderIdentity: "x" }));
  const updated = await rename("a", "y");
  await target.request("DELETE", `${leases}/a`);
  expect(await watch.next()).toEqual({ type: "ADDED", object: created.body });
  expect(await watch.next()).toEqual({ type: "MODIFIED", object: updated.body });
  const gone = await watch.next();
  expect(gone.type).toBe("DELETED");
  expect(gone.object.spec).toEqual({ holderIdentity: "y" });
  expect(Number(gone.object.metadata.resourceVersion)).toBeGreaterThan(
    Number(updated.body.metadata.resourceVersion),
  );
  watch.close();
});

test("a watch resumes where another ended, and sees every event exactly once", async () => {
  const { body } = await target.request("POST", leases, lease("a"));
  const first = await rename("a", "one");
  const second = await rename("a", "two");
  const watch = await target.watch(`${leases}?watch=1&resourceVersion=${body.metadata.resourceVersion}`);
  expect((await watch.next()).object.metadata.resourceVersion).toBe(first.body.metadata.resourceVersion);
  expect((await watch.next()).object.metadata.resourceVersion).toBe(second.body.metadata.resourceVersion);
  const third = await rename("a", "three");
  expect((await watch.next()).object.metadata.resourceVersion).toBe(third.body.metadata.resourceVersion);
  watch.close();
});

test("a watch without a revision begins with the existing objects", async () => {
  await target.request("POST", leases, lease("a"));
  await target.request("POST", leases, lease("b"));
  const watch = await target.watch(`${leases}?watch=1`);
  const names = [(await watch.next()).object.metadata.name, (await watch.next()).object.metadata.name];
  expect(names.sort()).toEqual(["a", "b"]);
  await target.request("POST", leases, lease("c"));
  expect(await watch.next()).toMatchObject({ type: "ADDED", object: { metadata: { name: "c" } } });
  watch.close();
});

test("a watch from a revision that is no longer in the history gets 410 as its only event", async () => {
  const watch = await target.watch(`${leases}?watch=1&resourceVersion=1`);
  const { type, object } = await watch.next();
  expect(type).toBe("ERROR");
  expect(object).toMatchObject({ kind: "Status", status: "Failure", reason: "Expired", code: 410 });
  expect(object.message).toMatch(/^too old resource version: 1 \(\d+\)$/);
  await watch.ended;
});

test("a watch of one name sees only that object", async () => {
  const watch = await target.watch(
    `${leases}?watch=1&fieldSelector=metadata.name%3Db&resourceVersion=${await revision()}`,
  );
  await target.request("POST", leases, lease("a"));
  await target.request("POST", leases, lease("b"));
  expect(await watch.next()).toMatchObject({ type: "ADDED", object: { metadata: { name: "b" } } });
  watch.close();
});

test("a watch with a selector reports ADDED when an object begins to match, and DELETED when it stops", async () => {
  const watch = await target.watch(`${leases}?watch=1&labelSelector=led&resourceVersion=${await revision()}`);
  await target.request("POST", leases, lease("a"));
  await target.request("PATCH", `${leases}/a`, { metadata: { labels: { led: "yes" } } }, MERGE_PATCH);
  expect(await watch.next()).toMatchObject({
    type: "ADDED",
    object: { metadata: { labels: { led: "yes" } } },
  });
  await target.request("PATCH", `${leases}/a`, { metadata: { labels: { led: null } } }, MERGE_PATCH);
  expect(await watch.next()).toMatchObject({ type: "DELETED", object: { metadata: { name: "a" } } });
  watch.close();
});

test("a watch of one namespace does not see another", async () => {
  const other = leasesIn(await target.namespace());
  const watch = await target.watch(`${leases}?watch=1&resourceVersion=${await revision()}`);
  await target.request("POST", other, lease("elsewhere"));
  await target.request("POST", configMapsIn(namespace), configMap("another-kind"));
  await target.request("POST", leases, lease("here"));
  expect(await watch.next()).toMatchObject({ object: { kind: "Lease", metadata: { name: "here" } } });
  watch.close();
});

test("a watch ends after its timeout", async () => {
  const watch = await target.watch(`${leases}?watch=1&timeoutSeconds=1`);
  await watch.ended;
});

test("a watch with initial events gets a bookmark after the last one", async ({ skip }) => {
  skip((await target.minor()) < 32, "servers before 1.32 have WatchList switched off");
  await target.request("POST", leases, lease("a"));
  const query = "watch=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true";
  const watch = await target.watch(`${leases}?${query}`);
  expect(await watch.next()).toMatchObject({ type: "ADDED", object: { metadata: { name: "a" } } });
  expect(await watch.next()).toMatchObject({
    type: "BOOKMARK",
    object: { kind: "Lease", metadata: { annotations: { "k8s.io/initial-events-end": "true" } } },
  });
  watch.close();
});

test("contradictory watch options are rejected", async ({ skip }) => {
  skip((await target.minor()) < 32, "servers before 1.32 have WatchList switched off");
  const { status, body } = await target.request("GET", `${leases}?watch=1&sendInitialEvents=true`);
  expect(status).toBe(422);
  expect(body.message).toBe(
    'ListOptions.meta.k8s.io "" is invalid: resourceVersionMatch: Forbidden: sendInitialEvents requires setting resourceVersionMatch to NotOlderThan',
  );
});

test("a watch from a future revision begins after it", async () => {
  const { body } = await target.request("POST", leases, lease("a"));
  const future = Number(body.metadata.resourceVersion) + 1;
  const watch = await target.watch(`${leases}?watch=1&resourceVersion=${future}`);
  await rename("a", "one");
  await rename("a", "two");
  const { object } = await watch.next();
  expect(Number(object.metadata.resourceVersion)).toBeGreaterThan(future);
  watch.close();
});

test("a write that changes nothing causes no event", async () => {
  const { body } = await target.request("POST", leases, lease("a", { holderIdentity: "x" }));
  const watch = await target.watch(`${leases}?watch=1&resourceVersion=${body.metadata.resourceVersion}`);
  await rename("a", "x");
  await rename("a", "y");
  expect((await watch.next()).object.spec.holderIdentity).toBe("y");
  watch.close();
});

test("an object that stops matching is DELETED, as it was when it matched", async () => {
  const { body } = await target.request("POST", leases, lease("leaving", {}, { labels: { x: "leaving" } }));
  const query = `?watch=1&labelSelector=x%3Dleaving&resourceVersion=${body.metadata.resourceVersion}`;
  const watch = await target.watch(`${leases}${query}`);
  const changed = { ...body, metadata: { ...body.metadata, labels: { x: "other" } } };
  const { body: after } = await target.request("PUT", `${leases}/leaving`, changed);
  const { type, object } = await watch.next();
  watch.close();
  expect(type).toBe("DELETED");
  expect(object.metadata.labels).toEqual({ x: "leaving" });
  expect(object.metadata.resourceVersion).toBe(after.metadata.resourceVersion);
});
