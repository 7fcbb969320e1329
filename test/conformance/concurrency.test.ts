import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { configMap, configMapsIn, connect, lease, leasesIn, type Target } from "./target.ts";

let target: Target;
let leases: string;
let configMaps: string;

beforeAll(async () => {
  target = await connect();
});
afterAll(() => target.close());
beforeEach(async () => {
  const namespace = await target.namespace();
  leases = leasesIn(namespace);
  configMaps = configMapsIn(namespace);
});

test("a created object has the fields that the server sets, and a read returns the same object", async () => {
  const created = await target.request("POST", leases, lease("a", { holderIdentity: "x" }));
  expect(created.status).toBe(201);
  expect(created.body).toMatchObject({
    kind: "Lease",
    apiVersion: "coordination.k8s.io/v1",
    metadata: {
      name: "a",
      uid: expect.stringMatching(/^[0-9a-f-]{36}$/),
      resourceVersion: expect.stringMatching(/^\d+$/),
    },
    spec: { holderIdentity: "x" },
  });
  expect(created.body.metadata.creationTimestamp).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/);
  const read = await target.request("GET", `${leases}/a`);
  expect(read.body).toEqual(created.body);
});

test("the second create of a name gets 409 AlreadyExists", async () => {
  await target.request("POST", leases, lease("a"));
  const second = await target.request("POST", leases, lease("a"));
  expect(second.status).toBe(409);
  expect(second.body).toEqual({
    kind: "Status",
    apiVersion: "v1",
    metadata: {},
    status: "Failure",
    message: 'leases.coordination.k8s.io "a" already exists',
    reason: "AlreadyExists",
    details: { name: "a", group: "coordination.k8s.io", kind: "leases" },
    code: 409,
  });
});

test("exactly one of many concurrent creates succeeds", async () => {
  const answers = await Promise.all(
    Array.from({ length: 10 }, () => target.request("POST", leases, lease("a"))),
  );
  expect(answers.filter(({ status }) => status === 201)).toHaveLength(1);
  expect(answers.filter(({ status }) => status === 409)).toHaveLength(9);
});

test("an update with the resourceVersion that was read succeeds once, and then conflicts", async () => {
  const { body } = await target.request("POST", leases, lease("a", { holderIdentity: "x" }));
  const first = await target.request("PUT", `${leases}/a`, { ...body, spec: { holderIdentity: "y" } });
  expect(first.status).toBe(200);
  expect(Number(first.body.metadata.resourceVersion)).toBeGreaterThan(Number(body.metadata.resourceVersion));
  const second = await target.request("PUT", `${leases}/a`, { ...body, spec: { holderIdentity: "z" } });
  expect(second.status).toBe(409);
  expect(second.body).toMatchObject({
    reason: "Conflict",
    message:
      'Operation cannot be fulfilled on leases.coordination.k8s.io "a": the object has been modified; please apply your changes to the latest version and try again',
    details: { name: "a", group: "coordination.k8s.io", kind: "leases" },
  });
  const now = await target.request("GET", `${leases}/a`);
  expect(now.body.spec.holderIdentity).toBe("y");
});

test("exactly one of many updates from one resourceVersion succeeds", async () => {
  const { body } = await target.request("POST", leases, lease("a"));
  const answers = await Promise.all(
    Array.from({ length: 10 }, (_, index) =>
      target.request("PUT", `${leases}/a`, { ...body, spec: { holderIdentity: `candidate-${index}` } }),
    ),
  );
  expect(answers.map(({ status }) => status).sort()).toEqual([200, ...Array(9).fill(409)]);
});

test("an update that changes nothing keeps the resourceVersion", async () => {
  const { body } = await target.request("POST", leases, lease("a", { holderIdentity: "x" }));
  const again = await target.request("PUT", `${leases}/a`, body);
  expect(again.status).toBe(200);
  expect(again.body.metadata.resourceVersion).toBe(body.metadata.resourceVersion);
});

test("a ConfigMap can be updated without a resourceVersion, a Lease cannot", async () => {
  await target.request("POST", leases, lease("a"));
  const refused = await target.request("PUT", `${leases}/a`, lease("a", { holderIdentity: "y" }));
  expect(refused.status).toBe(422);
  // 0x0 on older servers.
  expect(refused.body.message).toMatch(
    /^leases\.coordination\.k8s\.io "a" is invalid: metadata\.resourceVersion: Invalid value: 0(x0)?: must be specified for an update$/,
  );
  await target.request("POST", configMaps, configMap("c", { a: "1" }));
  const taken = await target.request("PUT", `${configMaps}/c`, configMap("c", { a: "2" }));
  expect(taken.status).toBe(200);
  expect(taken.body.data).toEqual({ a: "2" });
});

test("a PUT creates a missing Lease, but not a missing ConfigMap", async () => {
  const made = await target.request("PUT", `${leases}/new`, lease("new", { holderIdentity: "x" }));
  expect(made.status).toBe(201);
  const missing = await target.request("PUT", `${configMaps}/new`, configMap("new"));
  expect(missing.status).toBe(404);
  expect(missing.body.message).toBe('configmaps "new" not found');
});

test("a uid that differs from that of the object is a failed precondition", async () => {
  const { body } = await target.request("POST", leases, lease("a"));
  const other = { ...body, metadata: { ...body.metadata, uid: "11111111-1111-1111-1111-111111111111" } };
  const refused = await target.request("PUT", `${leases}/a`, other);
  expect(refused.status).toBe(409);
  expect(refused.body.message).toContain(
    "Precondition failed: UID in precondition: 11111111-1111-1111-1111-111111111111",
  );
});

test("a recreated object has a new uid, and a write with the old uid conflicts", async () => {
  const { body: old } = await target.request("POST", leases, lease("a"));
  await target.request("DELETE", `${leases}/a`);
  const { body: made } = await target.request("POST", leases, lease("a"));
  expect(made.metadata.uid).not.toBe(old.metadata.uid);
  expect(Number(made.metadata.resourceVersion)).toBeGreaterThan(Number(old.metadata.resourceVersion));
  expect((await target.request("PUT", `${leases}/a`, old)).status).toBe(409);
});

test("generateName makes a name from the prefix and five letters", async () => {
  const { status, body } = await target.request("POST", leases, { metadata: { generateName: "election-" } });
  expect(status).toBe(201);
  expect(body.metadata.name).toMatch(/^election-[a-z0-9]{5}$/);
  expect(body.metadata.generateName).toBe("election-");
});

test("the error for a taken name says if it was generated, or if the object is being deleted", async () => {
  const twice = async (name: string, metadata: object) => {
    await target.request("POST", leases, { metadata: { name, finalizers: ["example.com/wait"] } });
    const { status, body, headers } = await target.request("POST", leases, {
      metadata: { name, ...metadata },
    });
    expect(status).toBe(409);
    return { message: body.message, wait: body.details.retryAfterSeconds, header: headers["retry-after"] };
  };
  const unique = "the server was not able to generate a unique name for the object";
  expect(await twice("a", {})).toEqual({ message: 'leases.coordination.k8s.io "a" already exists' });
  expect(await twice("a", { generateName: "x-" })).toEqual({
    message: `leases.coordination.k8s.io "a" already exists, ${unique}`,
    wait: 1,
    header: "1",
  });
  await target.request("DELETE", `${leases}/a`);
  expect(await twice("a", { generateName: "x-" })).toEqual({
    message: `object is being deleted: leases.coordination.k8s.io "a" already exists, ${unique}`,
    wait: 1,
    header: "1",
  });
});

test("a dry run gives the same response as the write, and writes nothing", async () => {
  const { status, body } = await target.request(
    "POST",
    `${leases}?dryRun=All`,
    lease("a", { holderIdentity: "x" }),
  );
  expect(status).toBe(201);
  expect(body.spec.holderIdentity).toBe("x");
  expect((await target.request("GET", `${leases}/a`)).status).toBe(404);
});
