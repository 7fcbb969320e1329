// What users do with Deployments, with tenure's controllers and scheduler on the API server under test. The bounds of the
// strategy are checked at every event of a pod.

import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { collectsGarbage, startTestCluster, type TestCluster, turnMs } from "./cluster.ts";
import { DeploymentWatch, deployment } from "./deployment-watch.ts";
import type { Body } from "./target.ts";

let cluster: TestCluster;
let namespace: string;
let web: DeploymentWatch;

beforeAll(async () => {
  cluster = await startTestCluster();
}, turnMs);
afterAll(() => cluster.close());
beforeEach(async () => {
  namespace = await cluster.target.namespace();
  web = new DeploymentWatch(cluster.client, namespace, "web");
});
afterEach(async () => {
  await web.close();
  expect(web.violations).toEqual([]);
});

const image = (tag: string) => ({
  spec: { template: { spec: { containers: [{ name: "web", image: `web:${tag}` }] } } },
});
const images = (pods: Body[]) => pods.map(({ spec }) => spec.containers[0].image).sort();
const condition = (type: string) =>
  web.deployment?.status?.conditions?.find((each: Body) => each.type === type);

describe("a rolling update", () => {
  it("reaches the wanted number of ready pods on all nodes", async () => {
    await web.expect({ most: 3, least: 0 });
    await web.create(deployment("web", { strategy: { rollingUpdate: { maxSurge: 0, maxUnavailable: 1 } } }));
    await web.rolledOut();
    expect(web.ready).toHaveLength(3);
    expect(new Set(web.ready.map(({ spec }) => spec.nodeName)).size).toBe(3);
    expect(condition("Available")).toMatchObject({ status: "True", reason: "MinimumReplicasAvailable" });
    await web.until("complete", () => condition("Progressing")?.reason === "NewReplicaSetAvailable");
  });

  it.each([
    { maxSurge: 1, maxUnavailable: 0, most: 5, least: 4 },
    { maxSurge: 0, maxUnavailable: 1, most: 4, least: 3 },
    { maxSurge: "25%", maxUnavailable: "25%", most: 5, least: 3 },
    { maxSurge: "50%", maxUnavailable: "0%", most: 6, least: 4 },
  ])(
    "with maxSurge $maxSurge and maxUnavailable $maxUnavailable stays in its bounds",
    async ({ most, least, ...rollingUpdate }) => {
      await web.create(deployment("web", { replicas: 4, strategy: { rollingUpdate } }));
      await web.rolledOut();
      await web.expect({ most, least });
      await web.patch(image("2"));
      await web.until("seen", () => images(web.ready).includes("web:2"));
      await web.rolledOut();
      expect(images(web.active)).toEqual(Array(4).fill("web:2"));
    },
  );

  it("goes back to an earlier revision, as kubectl rollout undo does", async () => {
    await web.create(deployment("web"));
    await web.rolledOut();
    const [first] = await web.sets();
    await web.patch(image("2"));
    await web.until("seen", () => images(web.ready).includes("web:2"));
    await web.rolledOut();
    await web.expect({ most: 4, least: 3 });
    await web.patch({ spec: { template: { $patch: "replace", ...withoutHash(first.spec.template) } } });
    await web.until("back", () => images(web.ready).join() === "web:1,web:1,web:1");
    await web.rolledOut();
    const sets = await web.sets();
    expect(sets).toHaveLength(2);
    const again = sets.find(({ metadata }) => metadata.name === first.metadata.name);
    expect(again.metadata.annotations).toMatchObject({
      "deployment.kubernetes.io/revision": "3",
      "deployment.kubernetes.io/revision-history": "1",
    });
    expect(web.deployment.metadata.annotations["deployment.kubernetes.io/revision"]).toBe("3");
  });

  it("keeps only the wanted number of old ReplicaSets", async () => {
    await web.create(deployment("web", { replicas: 1, revisionHistoryLimit: 1 }));
    await web.rolledOut();
    for (const tag of ["2", "3", "4"]) {
      await web.patch(image(tag));
      await web.until(`at ${tag}`, () => images(web.active).join() === `web:${tag}`);
      await web.rolledOut();
    }
    await expect.poll(async () => (await web.sets()).length).toBe(2);
  });
});

describe("a Deployment", () => {
  it("is scaled up and down, also in the middle of a rollout", async () => {
    await web.create(deployment("web", { strategy: { rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } } }));
    await web.rolledOut();
    await web.expect({ most: 7, least: 3 });
    await web.patch({ spec: { replicas: 6 } });
    await web.rolledOut();
    await web.expect({ most: 7, least: 2 });
    await web.patch(image("2"));
    await web.patch({ spec: { replicas: 2 } });
    await web.until("rolled over", () => images(web.active).join() === "web:2,web:2");
    await web.rolledOut();
  });

  it("does not roll out while it is paused, and does when it is resumed", async () => {
    await web.create(deployment("web"));
    await web.rolledOut();
    await web.patch({ spec: { paused: true, ...image("2").spec } });
    await web.until("paused", () => condition("Progressing")?.reason === "DeploymentPaused");
    await web.patch({ spec: { replicas: 4 } });
    await web.until("scaled", () => web.ready.length === 4);
    expect(images(web.active)).toEqual(Array(4).fill("web:1"));
    await web.patch({ spec: { paused: false } });
    await web.until("resumed", () => images(web.active).join() === Array(4).fill("web:2").join());
    await web.rolledOut();
  });

  it("with the strategy Recreate starts nothing new before everything old is gone", async () => {
    await web.create(deployment("web", { strategy: { type: "Recreate", rollingUpdate: null } }));
    await web.rolledOut();
    await web.expect({ most: 3, least: 0 });
    const mixed: string[] = [];
    await web.patch(image("2"));
    await web.until("recreated", () => {
      const seen = new Set(images(web.pods));
      if (seen.size > 1) mixed.push([...seen].join());
      return images(web.ready).join() === "web:2,web:2,web:2";
    });
    expect(mixed).toEqual([]);
  });

  it("replaces a pod that is deleted", async () => {
    await web.create(deployment("web"));
    await web.rolledOut();
    await web.expect({ most: 3, least: 2 });
    const [victim] = web.active;
    await cluster.target.request("DELETE", `/api/v1/namespaces/${namespace}/pods/${victim.metadata.name}`);
    await web.until(
      "replaced",
      () => web.ready.length === 3 && !web.ready.some((pod) => pod.metadata.uid === victim.metadata.uid),
    );
  });

  it("takes its ReplicaSets and pods with it when it is deleted", async ({ skip }) => {
    skip(!collectsGarbage, "kube-apiserver alone does not delete what belongs to a deleted object");
    await web.create(deployment("web"));
    await web.rolledOut();
    await web.delete();
    await web.until("without pods", () => web.pods.length === 0);
    expect(await web.isGone()).toBe(true);
    await expect.poll(async () => (await web.sets()).length).toBe(0);
  });

  it("reports a rollout that makes no progress", async () => {
    const nodeSelector = { disk: "none" };
    const spec = { containers: [{ name: "web", image: "web:1" }], nodeSelector };
    const template = { metadata: { labels: { app: "web" } }, spec };
    await web.create(deployment("web", { progressDeadlineSeconds: 1, template }));
    await web.until("stuck", () => condition("Progressing")?.reason === "ProgressDeadlineExceeded");
    expect(condition("Progressing")).toMatchObject({ status: "False" });
    const scheduled = web.active[0]?.status.conditions.find(({ type }: Body) => type === "PodScheduled");
    expect(scheduled).toMatchObject({
      status: "False",
      reason: "Unschedulable",
      message: "0/3 nodes are available: 3 node(s) didn't match Pod's node affinity/selector.",
    });
    const { body } = await cluster.target.request("GET", `/api/v1/namespaces/${namespace}/events`);
    expect(body.items.map(({ reason }: Body) => reason)).toContain("FailedScheduling");
  });
});

function withoutHash({ metadata, spec }: Body): Body {
  const { "pod-template-hash": _hash, ...labels } = metadata.labels;
  return { metadata: { ...metadata, labels }, spec };
}
