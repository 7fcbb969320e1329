// Nodes that stop, with tenure's controllers on the API server under test.

import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from "vitest";
import { startFakeNodes } from "../../packages/cluster/src/testing/fake-node.ts";
import { startTestCluster, type TestCluster, turnMs } from "./cluster.ts";
import { DeploymentWatch, deployment } from "./deployment-watch.ts";
import type { Body } from "./target.ts";

let cluster: TestCluster;
let namespace: string;
let stop: AbortController;
let web: DeploymentWatch;

beforeAll(async () => {
  cluster = await startTestCluster({ nodes: ["steady"], nodeGraceMs: 5_000 });
}, turnMs);
afterAll(() => cluster.close());
beforeEach(async () => {
  namespace = await cluster.target.namespace();
  stop = new AbortController();
  web = new DeploymentWatch(cluster.client, namespace, "web");
});
afterEach(async () => {
  stop.abort();
  await web.close();
  await cluster.target.request("DELETE", "/api/v1/nodes/doomed");
});

const condition = (object: Body, type: string) =>
  object.status?.conditions?.find((each: Body) => each.type === type);
const doomed = async (): Promise<Body> => (await cluster.target.request("GET", "/api/v1/nodes/doomed")).body;

it("pods leave a node that gives no sign of life, when they do not tolerate it any longer", async () => {
  await startFakeNodes({ client: cluster.client, names: ["doomed"], signal: stop.signal });
  await expect.poll(async () => (await doomed()).spec?.taints ?? []).toEqual([]);
  const tolerations = ["not-ready", "unreachable"].map((key) => ({
    key: `node.kubernetes.io/${key}`,
    operator: "Exists",
    effect: "NoExecute",
    tolerationSeconds: 1,
  }));
  const { spec } = deployment("web", { replicas: 2 });
  const template = { ...spec.template, spec: { ...spec.template.spec, tolerations } };
  await web.create(deployment("web", { replicas: 2, template }));
  await web.rolledOut();
  await web.until("on both nodes", () => new Set(web.ready.map((pod) => pod.spec.nodeName)).size === 2);

  stop.abort();
  await expect.poll(async () => condition(await doomed(), "Ready")?.status).toBe("Unknown");
  await expect
    .poll(async () =>
      ((await doomed()).spec.taints ?? []).map(({ key, effect }: Body) => `${key} ${effect}`).sort(),
    )
    .toEqual(["node.kubernetes.io/unreachable NoExecute", "node.kubernetes.io/unreachable NoSchedule"]);
  await web.until(
    "moved",
    () => web.ready.length === 2 && web.ready.every((pod) => pod.spec.nodeName === "steady"),
  );
  const left = web.pods.filter((pod) => pod.spec.nodeName === "doomed");
  expect(
    left.map((pod) => [condition(pod, "Ready")?.status, pod.metadata.deletionTimestamp !== undefined]),
  ).toEqual([["False", true]]);
});
