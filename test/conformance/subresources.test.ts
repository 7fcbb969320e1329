// Writes to the status, and evictions.
import { afterAll, beforeAll, expect, test } from "vitest";
import { type Body, connect, MERGE_PATCH, type Target } from "./target.ts";

let target: Target;
let namespace: string;

beforeAll(async () => {
  target = await connect();
  namespace = await target.namespace();
  await target.request("POST", `/api/v1/namespaces/${namespace}/serviceaccounts`, {
    metadata: { name: "default" },
  });
});
afterAll(() => target.close());

const labels = { app: "a" };
const podSpec = { containers: [{ name: "c", image: "i" }] };
const deploymentsIn = (space: string) => `/apis/apps/v1/namespaces/${space}/deployments`;
const podsIn = (space: string) => `/api/v1/namespaces/${space}/pods`;

const changes = {
  metadata: { labels: { new: "label" }, annotations: { new: "annotation" } },
  spec: { replicas: 7 },
};

test("a write to the status of a Deployment changes annotations, but not labels and spec", async () => {
  const spec = { selector: { matchLabels: labels }, template: { metadata: { labels }, spec: podSpec } };
  await target.request("POST", deploymentsIn(namespace), { metadata: { name: "d", labels }, spec });
  const path = `${deploymentsIn(namespace)}/d/status`;
  const patch = { ...changes, status: { replicas: 3 } };
  const { status, body } = await target.request("PATCH", path, patch, MERGE_PATCH);
  expect(status).toBe(200);
  expect(body.metadata.annotations).toEqual({ new: "annotation" });
  expect(body.metadata.labels).toEqual(labels);
  expect(body.spec.replicas).toBe(1);
  expect(body.status.replicas).toBe(3);
  expect(body.metadata.generation).toBe(1);
  const owner = body.metadata.managedFields.find((entry: Body) => entry.subresource === "status");
  expect(Object.keys(owner.fieldsV1).sort()).toEqual(["f:metadata", "f:status"]);
});

test("a write to the status of a Service changes labels and annotations", async () => {
  const services = `/api/v1/namespaces/${namespace}/services`;
  await target.request("POST", services, {
    metadata: { name: "s", labels },
    spec: { ports: [{ port: 80 }] },
  });
  const { body } = await target.request("PATCH", `${services}/s/status`, changes, MERGE_PATCH);
  expect(body.metadata.annotations).toEqual({ new: "annotation" });
  expect(body.metadata.labels).toEqual({ ...labels, new: "label" });
});

test("a write to the status of a pod does not change its owners", async () => {
  const pods = podsIn(namespace);
  await target.request("POST", pods, { metadata: { name: "owned" }, spec: podSpec });
  const ownerReferences = [{ apiVersion: "v1", kind: "Pod", name: "x", uid: "1" }];
  const metadata = { ownerReferences, annotations: { new: "annotation" } };
  const patch = { metadata, status: { phase: "Running" } };
  const { body } = await target.request("PATCH", `${pods}/owned/status`, patch, MERGE_PATCH);
  expect(body.metadata.ownerReferences).toBeUndefined();
  expect(body.metadata.annotations).toEqual({ new: "annotation" });
  expect(body.status).toMatchObject({ phase: "Running", qosClass: "BestEffort" });
});

test("a write to the status of a namespace keeps the label with its name", async () => {
  const own = await target.namespace();
  const path = `/api/v1/namespaces/${own}/status`;
  const { body } = await target.request("GET", path);
  const { labels: _labels, ...metadata } = body.metadata;
  const { status, body: after } = await target.request("PUT", path, { ...body, metadata });
  expect(status).toBe(200);
  expect(after.metadata.labels).toEqual({ "kubernetes.io/metadata.name": own });
});

const evict = (space: string, name: string, query = "") =>
  target.request("POST", `${podsIn(space)}/${name}/eviction${query}`, {
    apiVersion: "policy/v1",
    kind: "Eviction",
    metadata: { name },
  });

async function runningPod(space: string, name: string): Promise<void> {
  await target.request("POST", podsIn(space), { metadata: { name, labels }, spec: podSpec });
  const conditions = [{ type: "Ready", status: "True" }];
  const patch = { status: { phase: "Running", conditions } };
  await target.request("PATCH", `${podsIn(space)}/${name}/status`, patch, MERGE_PATCH);
}

test("an eviction deletes a pod, and a budget without disruptions left prevents it", async () => {
  await runningPod(namespace, "free");
  const done = await evict(namespace, "free");
  expect(done.status).toBe(201);
  expect(done.body).toMatchObject({ kind: "Status", status: "Success", code: 201 });
  expect((await target.request("GET", `${podsIn(namespace)}/free`)).status).toBe(404);

  const held = `${podsIn(namespace)}/held`;
  await runningPod(namespace, "held");
  await target.request("PATCH", held, { metadata: { finalizers: ["tenure.dev/test"] } }, MERGE_PATCH);
  await evict(namespace, "held");
  const { body: evicted } = await target.request("GET", held);
  expect(evicted.status.conditions).toContainEqual(
    expect.objectContaining({ type: "DisruptionTarget", status: "True", reason: "EvictionByEvictionAPI" }),
  );
  await target.request("PATCH", held, { metadata: { finalizers: null } }, MERGE_PATCH);

  const budgets = `/apis/policy/v1/namespaces/${namespace}/poddisruptionbudgets`;
  const spec = { minAvailable: 1, selector: { matchLabels: labels } };
  await target.request("POST", budgets, { metadata: { name: "b" }, spec });
  await runningPod(namespace, "one");
  await runningPod(namespace, "two");
  const early = await evict(namespace, "one");
  expect(early.status).toBe(429);
  expect(early.headers["retry-after"]).toBe("10");
  expect(early.body).toMatchObject({
    reason: "TooManyRequests",
    message: "Cannot evict pod as it would violate the pod's disruption budget.",
    details: {
      causes: [
        {
          reason: "DisruptionBudget",
          message: "The disruption budget b is still being processed by the server.",
        },
      ],
    },
  });

  const counted = { disruptionsAllowed: 1, currentHealthy: 2, desiredHealthy: 1, expectedPods: 2 };
  const status = { ...counted, observedGeneration: 1 };
  await target.request("PATCH", `${budgets}/b/status`, { status }, MERGE_PATCH);
  expect((await evict(namespace, "one", "?dryRun=All")).status).toBe(201);
  expect((await target.request("GET", `${podsIn(namespace)}/one`)).status).toBe(200);
  expect((await evict(namespace, "one")).status).toBe(201);
  const { body } = await target.request("GET", `${budgets}/b`);
  expect(body.status.disruptionsAllowed).toBe(0);
  expect(Object.keys(body.status.disruptedPods)).toEqual(["one"]);
  const refused = await evict(namespace, "two");
  expect(refused.status).toBe(429);
  expect(refused.body.details.causes[0].message).toBe(
    "The disruption budget b does not allow evicting pods currently",
  );
  expect(refused.headers["retry-after"]).toBeUndefined();
  expect(body.status.conditions).toMatchObject([
    { type: "DisruptionAllowed", status: "False", reason: "InsufficientPods" },
  ]);
});

test("an eviction of a missing pod gets 404, and a wrong name gets 400", async () => {
  expect((await evict(namespace, "none")).status).toBe(404);
  await runningPod(namespace, "named");
  const other = { apiVersion: "policy/v1", kind: "Eviction", metadata: { name: "other" } };
  const { status, body } = await target.request("POST", `${podsIn(namespace)}/named/eviction`, other);
  expect(status).toBe(400);
  expect(body.message).toBe("name in URL does not match name in Eviction object");
});
