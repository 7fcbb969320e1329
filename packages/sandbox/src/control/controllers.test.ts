import { afterEach, beforeEach, expect, test } from "vitest";
import { type Sandbox, startSandbox } from "../sandbox.ts";
import { type Body, configMapsPath, lease, leasesPath, send } from "../testing/client.ts";

let sandbox: Sandbox;
beforeEach(async () => {
  sandbox = await startSandbox();
});
afterEach(() => sandbox.close());

const status = async (path: string) => (await send(sandbox, "GET", path)).status;

async function ownerAndDependent(): Promise<Body> {
  const { body: owner } = await send(sandbox, "POST", configMapsPath, { metadata: { name: "owner" } });
  const { uid } = owner.metadata;
  const ownerReferences = [
    { apiVersion: "v1", kind: "ConfigMap", name: "owner", uid, blockOwnerDeletion: true },
  ];
  await send(sandbox, "POST", leasesPath, lease("dependent", {}, { ownerReferences }));
  return owner;
}

test("Background: dependents are deleted after their owner", async () => {
  await ownerAndDependent();
  await send(sandbox, "DELETE", `${configMapsPath}/owner`);
  await sandbox.settled();
  expect(await status(`${leasesPath}/dependent`)).toBe(404);
});

test("Foreground: dependents are deleted before their owner", async () => {
  await ownerAndDependent();
  const { body } = await send(sandbox, "DELETE", `${configMapsPath}/owner?propagationPolicy=Foreground`);
  expect(body.metadata.finalizers).toEqual(["foregroundDeletion"]);
  await sandbox.settled();
  expect(await status(`${leasesPath}/dependent`)).toBe(404);
  expect(await status(`${configMapsPath}/owner`)).toBe(404);
});

test("Foreground: a circle of owners is deleted", async () => {
  const uids: Record<string, string> = {};
  for (const name of ["a", "b", "c"]) {
    const { body } = await send(sandbox, "POST", configMapsPath, { metadata: { name } });
    uids[name] = body.metadata.uid;
  }
  for (const [name, owner] of ["ac", "ba", "cb"]) {
    const reference = { apiVersion: "v1", kind: "ConfigMap", name: owner, uid: uids[owner as string] };
    const metadata = { name, ownerReferences: [{ ...reference, blockOwnerDeletion: true }] };
    await send(sandbox, "PUT", `${configMapsPath}/${name}`, { metadata });
  }
  await send(sandbox, "DELETE", `${configMapsPath}/a?propagationPolicy=Foreground`);
  await sandbox.settled();
  const { body } = await send(sandbox, "GET", configMapsPath);
  expect(body.items.map(({ metadata }: Body) => metadata.name).filter((name: string) => uids[name])).toEqual(
    [],
  );
});

test("Orphan: dependents are kept without the owner reference", async () => {
  await ownerAndDependent();
  await send(sandbox, "DELETE", `${configMapsPath}/owner?propagationPolicy=Orphan`);
  await sandbox.settled();
  expect(await status(`${configMapsPath}/owner`)).toBe(404);
  const { body } = await send(sandbox, "GET", `${leasesPath}/dependent`);
  expect(body.metadata.ownerReferences).toBeUndefined();
});

test("an object whose owner never existed is deleted", async () => {
  const ownerReferences = [{ apiVersion: "v1", kind: "ConfigMap", name: "nobody", uid: "none" }];
  await send(sandbox, "POST", leasesPath, lease("dependent", {}, { ownerReferences }));
  await sandbox.settled();
  expect(await status(`${leasesPath}/dependent`)).toBe(404);
});

test("a namespace has a default ServiceAccount, which is recreated when it is deleted", async () => {
  await send(sandbox, "POST", "/api/v1/namespaces", { metadata: { name: "team" } });
  await sandbox.settled();
  const account = "/api/v1/namespaces/team/serviceaccounts/default";
  const { body } = await send(sandbox, "GET", account);
  await send(sandbox, "DELETE", account);
  await sandbox.settled();
  const { body: again } = await send(sandbox, "GET", account);
  expect(again.metadata.uid).not.toBe(body.metadata.uid);
});

test("deleting a namespace deletes its content", async () => {
  await send(sandbox, "POST", "/api/v1/namespaces", { metadata: { name: "team" } });
  await send(sandbox, "POST", leasesPath.replace("default", "team"), lease("a"));
  await send(sandbox, "DELETE", "/api/v1/namespaces/team");
  await sandbox.settled();
  expect(await status("/api/v1/namespaces/team")).toBe(404);
  expect(await status(leasesPath.replace("default", "team").concat("/a"))).toBe(404);
  expect((await send(sandbox, "POST", "/api/v1/namespaces", { metadata: { name: "team" } })).status).toBe(
    201,
  );
});

test("an object with a finalizer holds its namespace", async () => {
  await send(sandbox, "POST", "/api/v1/namespaces", { metadata: { name: "team" } });
  const path = leasesPath.replace("default", "team");
  await send(sandbox, "POST", path, lease("held", {}, { finalizers: ["example.com/hold"] }));
  await send(sandbox, "DELETE", "/api/v1/namespaces/team");
  await sandbox.settled();
  const { body: held } = await send(sandbox, "GET", "/api/v1/namespaces/team");
  expect(held.status.phase).toBe("Terminating");
  const told = held.status.conditions.map(({ type, status: is, message }: Body) => [type, is, message]);
  expect(told).toContainEqual([
    "NamespaceContentRemaining",
    "True",
    "Some resources are remaining: leases.coordination.k8s.io has 1 resource instances",
  ]);
  expect(told).toContainEqual([
    "NamespaceFinalizersRemaining",
    "True",
    "Some content in the namespace has finalizers remaining: example.com/hold in 1 resource instances",
  ]);
  const patch = { metadata: { finalizers: null } };
  await send(sandbox, "PATCH", `${path}/held`, patch, {
    headers: { "Content-Type": "application/merge-patch+json" },
  });
  await sandbox.settled();
  expect(await status("/api/v1/namespaces/team")).toBe(404);
});

const podsPath = "/api/v1/namespaces/default/pods";

/** A pod on a node. Nothing stops it, so it keeps its grace period until a test deletes it. */
async function podOnNode(path: string, metadata: Body): Promise<void> {
  const spec = { nodeName: "n1", containers: [{ name: "c", image: "i" }] };
  expect((await send(sandbox, "POST", path, { metadata, spec })).status).toBe(201);
}

const endPod = (path: string) => send(sandbox, "DELETE", path, { gracePeriodSeconds: 0 });

test("a pod on a node whose owner is deleted gets its grace period", async () => {
  const owner = await ownerAndDependent();
  const { uid } = owner.metadata;
  const ownerReferences = [{ apiVersion: "v1", kind: "ConfigMap", name: "owner", uid }];
  await podOnNode(podsPath, { name: "p", ownerReferences });
  await send(sandbox, "DELETE", `${configMapsPath}/owner`);
  await sandbox.settled();
  const { body } = await send(sandbox, "GET", `${podsPath}/p`);
  expect(body.metadata.deletionGracePeriodSeconds).toBe(30);
  await endPod(`${podsPath}/p`);
  expect(await status(`${podsPath}/p`)).toBe(404);
});

test("Foreground: an owner waits for the dependents of its dependents", async () => {
  const { body: top } = await send(sandbox, "POST", configMapsPath, { metadata: { name: "top" } });
  const reference = (name: string, uid: string) => ({
    ownerReferences: [{ apiVersion: "v1", kind: "ConfigMap", name, uid, blockOwnerDeletion: true }],
  });
  const { body: middle } = await send(sandbox, "POST", configMapsPath, {
    metadata: { name: "middle", ...reference("top", top.metadata.uid) },
  });
  await podOnNode(podsPath, { name: "p", ...reference("middle", middle.metadata.uid) });
  await send(sandbox, "DELETE", `${configMapsPath}/top?propagationPolicy=Foreground`);
  await sandbox.settled();
  expect(await status(`${configMapsPath}/middle`)).toBe(200);
  expect(await status(`${configMapsPath}/top`)).toBe(200);
  await endPod(`${podsPath}/p`);
  await sandbox.settled();
  expect(await status(`${configMapsPath}/middle`)).toBe(404);
  expect(await status(`${configMapsPath}/top`)).toBe(404);
});

test.each([
  ["whose kind the API does not have", { apiVersion: "example.com/v1", kind: "Widget" }, 200],
  ["in another namespace", { apiVersion: "v1", kind: "ConfigMap" }, 404],
])("a dependent of an owner %s", async (_case, type, expected) => {
  const away = await send(sandbox, "POST", "/api/v1/namespaces/kube-public/configmaps", {
    metadata: { name: "away" },
  });
  const { uid } = away.body.metadata;
  const ownerReferences = [{ ...type, name: "away", uid }];
  await send(sandbox, "POST", leasesPath, lease("dependent", {}, { ownerReferences }));
  await sandbox.settled();
  expect(await status(`${leasesPath}/dependent`)).toBe(expected);
});

test("deleting a namespace gives its pods their grace period, and keeps the rest until they have stopped", async () => {
  await send(sandbox, "POST", "/api/v1/namespaces", { metadata: { name: "team" } });
  await sandbox.settled();
  const configMaps = configMapsPath.replace("default", "team");
  const pods = podsPath.replace("default", "team");
  await send(sandbox, "POST", configMaps, { metadata: { name: "needed" } });
  await podOnNode(pods, { name: "p" });
  await send(sandbox, "DELETE", "/api/v1/namespaces/team");
  await sandbox.settled();
  const { body } = await send(sandbox, "GET", `${pods}/p`);
  expect(body.metadata.deletionGracePeriodSeconds).toBe(30);
  expect(await status(`${configMaps}/needed`)).toBe(200);
  await endPod(`${pods}/p`);
  await sandbox.settled();
  expect(await status("/api/v1/namespaces/team")).toBe(404);
});
