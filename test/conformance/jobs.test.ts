// What users do with Jobs, with tenure's controllers on the API server under test. The test plays the containers.

import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { collectsGarbage, startTestCluster, type TestCluster, turnMs } from "./cluster.ts";
import { type Body, STRATEGIC_PATCH } from "./target.ts";

let cluster: TestCluster;
let namespace: string;

beforeAll(async () => {
  cluster = await startTestCluster();
}, turnMs);
afterAll(() => cluster.close());
beforeEach(async () => {
  namespace = await cluster.target.namespace();
});

async function get(path: string): Promise<Body> {
  const { body } = await cluster.target.request("GET", path);
  return body;
}

const podsPath = () => `/api/v1/namespaces/${namespace}/pods`;
const jobPath = () => `/apis/batch/v1/namespaces/${namespace}/jobs/work`;
const pods = async (): Promise<Body[]> => (await get(podsPath())).items;
const running = async () =>
  (await pods()).filter(({ status, metadata }) => status.phase === "Running" && !metadata.deletionTimestamp);
const job = () => get(jobPath());
const conditions = async () =>
  ((await job()).status?.conditions ?? [])
    .filter(({ status }: Body) => status === "True")
    .map(({ type }: Body) => type);

async function create(spec: Body): Promise<void> {
  const template = { spec: { restartPolicy: "Never", containers: [{ name: "work", image: "work:1" }] } };
  const body = { metadata: { name: "work" }, spec: { template, ...spec } };
  const { status } = await cluster.target.request("POST", jobPath().replace(/\/work$/, ""), body);
  expect(status).toBe(201);
}

async function end(pod: Body, phase: "Succeeded" | "Failed"): Promise<void> {
  const ready = { type: "Ready", status: "False", reason: "PodCompleted" };
  const path = `${podsPath()}/${pod.metadata.name}/status`;
  const { status } = await cluster.target.request(
    "PATCH",
    path,
    { status: { phase, conditions: [ready] } },
    STRATEGIC_PATCH,
  );
  expect(status).toBe(200);
}

describe("a Job", () => {
  it("runs as many pods at once as it may, until enough have succeeded", async () => {
    await create({ completions: 3, parallelism: 2 });
    let ended = 0;
    while (ended < 3) {
      await expect.poll(async () => (await running()).length).toBe(Math.min(2, 3 - ended));
      const [pod] = await running();
      await end(pod, "Succeeded");
      ended += 1;
    }
    await expect.poll(conditions).toEqual(["SuccessCriteriaMet", "Complete"]);
    const { status } = await job();
    expect(status).toMatchObject({
      succeeded: 3,
      completionTime: expect.any(String),
      startTime: expect.any(String),
    });
    expect(status.active ?? 0).toBe(0);
    expect(await pods()).toHaveLength(3);
    await expect
      .poll(async () => (await pods()).flatMap(({ metadata }) => metadata.finalizers ?? []))
      .toEqual([]);
  });

  it("fails when its pods failed too often", async () => {
    await create({ backoffLimit: 0 });
    await expect.poll(async () => (await running()).length).toBe(1);
    await end((await running())[0], "Failed");
    await expect.poll(conditions).toEqual(["FailureTarget", "Failed"]);
    const { status } = await job();
    expect(status).toMatchObject({ failed: 1 });
    expect(status.conditions[1]).toMatchObject({ reason: "BackoffLimitExceeded" });
  });

  it("fails when its deadline passes, and stops its pods", async () => {
    await create({ activeDeadlineSeconds: 1, parallelism: 2, completions: 2 });
    await expect.poll(conditions).toEqual(["FailureTarget", "Failed"]);
    expect((await job()).status.conditions[1]).toMatchObject({ reason: "DeadlineExceeded" });
    await expect.poll(async () => (await pods()).length).toBe(0);
  });

  it("gives every pod its own index", async () => {
    await create({ completions: 3, parallelism: 3, completionMode: "Indexed" });
    await expect.poll(async () => (await running()).length).toBe(3);
    const indexed = await running();
    const indexes = indexed.map(
      ({ metadata }) => metadata.annotations["batch.kubernetes.io/job-completion-index"],
    );
    expect(indexes.sort()).toEqual(["0", "1", "2"]);
    for (const pod of indexed) await end(pod, "Succeeded");
    await expect.poll(conditions).toContain("Complete");
    expect((await job()).status).toMatchObject({ succeeded: 3, completedIndexes: "0-2" });
  });

  it("runs no pods while it is suspended", async () => {
    await create({ completions: 2, parallelism: 2 });
    await expect.poll(async () => (await running()).length).toBe(2);
    await cluster.target.request("PATCH", jobPath(), { spec: { suspend: true } }, STRATEGIC_PATCH);
    await expect.poll(async () => (await pods()).length).toBe(0);
    expect(await conditions()).toEqual(["Suspended"]);
    await cluster.target.request("PATCH", jobPath(), { spec: { suspend: false } }, STRATEGIC_PATCH);
    await expect.poll(async () => (await running()).length).toBe(2);
    expect((await job()).status.failed ?? 0).toBe(0);
  });

  it("is deleted with its pods when its time after the end is over", async ({ skip }) => {
    skip(!collectsGarbage, "kube-apiserver alone does not delete what belongs to a deleted object");
    await create({ ttlSecondsAfterFinished: 0 });
    await expect.poll(async () => (await running()).length).toBe(1);
    await end((await running())[0], "Succeeded");
    await expect.poll(async () => (await job()).code).toBe(404);
    await expect.poll(async () => (await pods()).length).toBe(0);
  });

  it("lets its pods go when it is deleted while they run", async () => {
    await create({ completions: 2, parallelism: 2 });
    await expect.poll(async () => (await running()).length).toBe(2);
    const options = { propagationPolicy: "Background" };
    expect((await cluster.target.request("DELETE", jobPath(), options)).status).toBe(200);
    await expect
      .poll(async () => (await pods()).flatMap(({ metadata }) => metadata.finalizers ?? []))
      .toEqual([]);
    if (collectsGarbage) await expect.poll(async () => (await pods()).length).toBe(0);
  });
});
