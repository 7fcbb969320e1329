// What users do with StatefulSets, with tenure's controllers on the API server under test.

import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { startTestCluster, type TestCluster, turnMs } from "./cluster.ts";
import { type Body, STRATEGIC_PATCH } from "./target.ts";

/** Pods with this label never become ready. */
const stuckLabel = "stuck";

let cluster: TestCluster;
let namespace: string;

beforeAll(async () => {
  cluster = await startTestCluster({
    becomesReady: ({ metadata }) => metadata.labels?.[stuckLabel] === undefined,
  });
}, turnMs);
afterAll(() => cluster.close());
beforeEach(async () => {
  namespace = await cluster.target.namespace();
});

const setPath = () => `/apis/apps/v1/namespaces/${namespace}/statefulsets/db`;
const podsPath = () => `/api/v1/namespaces/${namespace}/pods`;
const get = async (path: string): Promise<Body> => (await cluster.target.request("GET", path)).body;
const pods = async (): Promise<Body[]> => (await get(podsPath())).items;
const patch = (body: Body) => cluster.target.request("PATCH", setPath(), body, STRATEGIC_PATCH);

/** Name and image of every ready pod. */
async function ready(): Promise<string[]> {
  return (await pods())
    .filter(({ status, metadata }) => {
      const isReady = status.conditions?.some(
        (each: Body) => each.type === "Ready" && each.status === "True",
      );
      return isReady && !metadata.deletionTimestamp;
    })
    .map(({ metadata, spec }) => `${metadata.name} ${spec.containers[0].image}`)
    .sort();
}

async function create(spec: Body = {}, podLabels: Body = {}): Promise<void> {
  const labels = { app: "db" };
  const template = {
    metadata: { labels: { ...labels, ...podLabels } },
    spec: { containers: [{ name: "db", image: "db:1" }] },
  };
  const body = {
    metadata: { name: "db" },
    spec: { replicas: 3, serviceName: "db", selector: { matchLabels: labels }, template, ...spec },
  };
  const { status } = await cluster.target.request("POST", setPath().replace(/\/db$/, ""), body);
  expect(status).toBe(201);
}

describe("a StatefulSet", () => {
  it("starts its pods one after the other, with names that stay", async () => {
    await create({}, { [stuckLabel]: "" });
    await expect.poll(async () => (await pods()).length).toBe(1);
    await expect.poll(async () => (await get(setPath())).status?.replicas).toBe(1);
    const [pod, ...others] = await pods();
    expect([pod.metadata.name, ...others]).toEqual(["db-0"]);
    expect(pod.spec).toMatchObject({ hostname: "db-0", subdomain: "db" });
    expect(pod.metadata.labels).toMatchObject({ "apps.kubernetes.io/pod-index": "0" });
  });

  it("replaces a pod under the same name", async () => {
    await create();
    await expect.poll(ready).toEqual(["db-0 db:1", "db-1 db:1", "db-2 db:1"]);
    const before = await get(`${podsPath()}/db-1`);
    await cluster.target.request("DELETE", `${podsPath()}/db-1`);
    await expect
      .poll(async () => {
        const { metadata } = await get(`${podsPath()}/db-1`);
        return metadata?.uid !== undefined && metadata.uid !== before.metadata.uid;
      })
      .toBe(true);
    await expect.poll(async () => (await ready()).length).toBe(3);
  });

  it("updates from the highest number down, and not below the partition", async () => {
    await create({ updateStrategy: { type: "RollingUpdate", rollingUpdate: { partition: 2 } } });
    await expect.poll(async () => (await ready()).length).toBe(3);
    await patch({ spec: { template: { spec: { containers: [{ name: "db", image: "db:2" }] } } } });
    await expect.poll(ready).toEqual(["db-0 db:1", "db-1 db:1", "db-2 db:2"]);
    const { status } = await get(setPath());
    expect(status.currentRevision).not.toBe(status.updateRevision);
    await patch({ spec: { updateStrategy: { rollingUpdate: { partition: 0 } } } });
    await expect.poll(ready).toEqual(["db-0 db:2", "db-1 db:2", "db-2 db:2"]);
    await expect
      .poll(async () => {
        const { status: final } = await get(setPath());
        return final.currentRevision === final.updateRevision && final.updatedReplicas;
      })
      .toBe(3);
  });

  it("is scaled down from the highest number", async () => {
    await create();
    await expect.poll(async () => (await ready()).length).toBe(3);
    await patch({ spec: { replicas: 1 } });
    await expect.poll(async () => (await pods()).map(({ metadata }) => metadata.name)).toEqual(["db-0"]);
  });

  it("with the policy Parallel starts all pods at once", async () => {
    await create({ podManagementPolicy: "Parallel" }, { [stuckLabel]: "" });
    await expect.poll(async () => (await pods()).length).toBe(3);
  });
});
