import { expect, it } from "vitest";
import type { Node, Pod } from "../../client/objects.ts";
import type { DaemonSet } from "../../client/workloads.ts";
import { ago, node, nowMs, pod } from "../../testing/fixtures.ts";
import { decideDaemonSet, revisionLabel } from "./decide.ts";
import { nodeOf, templateFor } from "./eligible.ts";

function daemonSet(spec: Partial<DaemonSet["spec"]> = {}): DaemonSet {
  const labels = { app: "log" };
  return {
    metadata: { name: "log", namespace: "default", uid: "uid-log", resourceVersion: "1", generation: 2 },
    spec: {
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: [] } },
      ...spec,
    },
  };
}
const three = ["a", "b", "c"].map((name) => node(name));
const on = (nodeName: string, hash = "new", more: Parameters<typeof pod>[1] = { readyFor: 60 }): Pod => {
  const created = pod(`log-${nodeName}-${hash}`, { ...more, spec: { nodeName } });
  const labels = { [revisionLabel]: hash };
  return { ...created, metadata: { ...created.metadata, creationTimestamp: ago(600), labels } };
};
const decide = (pods: Pod[], set = daemonSet(), nodes: Node[] = three) => {
  const step = decideDaemonSet(set, pods, nodes, "new", nowMs);
  return { ...step, delete: step.delete.map(({ metadata }) => metadata.name) };
};

it("every node gets one pod", () => {
  expect(decide([on("b")]).create).toEqual(["a", "c"]);
  expect(decide(three.map(({ metadata }) => on(metadata.name)))).toMatchObject({ create: [], delete: [] });
});

it("a node that the template does not want gets none, and loses the one that it has", () => {
  const nodes = [node("a", { labels: { disk: "ssd" } }), node("b")];
  const set = daemonSet({ template: { spec: { containers: [], nodeSelector: { disk: "ssd" } } } });
  const step = decide([on("b")], set, nodes);
  expect([step.create, step.delete]).toEqual([["a"], ["log-b-new"]]);
  expect(step.status).toMatchObject({ desiredNumberScheduled: 1, numberMisscheduled: 1 });
});

it.each([
  ["NoSchedule", "dedicated", [], []],
  ["NoExecute", "dedicated", [], ["log-a-new"]],
  ["NoSchedule", "node.kubernetes.io/unschedulable", ["b"], []],
])("a taint %s %s on all nodes", (effect, key, create, deleted) => {
  const nodes = ["a", "b"].map((name) => node(name, { spec: { taints: [{ key, effect }] } }));
  const step = decide([on("a")], daemonSet(), nodes);
  expect([step.create, step.delete]).toEqual([create, deleted]);
});

it("a pod of a node that is gone is deleted", () => {
  expect(decide([on("gone")], daemonSet(), []).delete).toEqual(["log-gone-new"]);
});

it("a failed pod is deleted, and replaced when it is gone", () => {
  const failed = on("a", "new", { status: { phase: "Failed" } });
  const step = decide([failed, on("b"), on("c")]);
  expect([step.create, step.delete]).toEqual([[], ["log-a-new"]]);
});

it("an update replaces one pod after the other", () => {
  const old = ["a", "b", "c"].map((name) => on(name, "old"));
  expect(decide(old).delete).toEqual(["log-a-old"]);
  // Its place is empty for now.
  expect(decide(old.slice(1))).toMatchObject({ create: ["a"], delete: [] });
  expect(decide([on("a", "new", {}), ...old.slice(1)]).delete).toEqual([]);
  expect(decide([on("a"), ...old.slice(1)]).delete).toEqual(["log-b-old"]);
  const twice = { rollingUpdate: { maxUnavailable: "50%" } };
  expect(decide(old, daemonSet({ updateStrategy: twice })).delete).toEqual(["log-a-old", "log-b-old"]);
  expect(decide(old, daemonSet({ updateStrategy: { type: "OnDelete" } })).delete).toEqual([]);
});

it("an old pod that is not available is replaced at once", () => {
  const old = [on("a", "old", {}), on("b", "old"), on("c", "old")];
  expect(decide(old).delete).toEqual(["log-a-old"]);
});

it("with a surge, the new pod comes first", () => {
  const set = daemonSet({ updateStrategy: { rollingUpdate: { maxSurge: 1, maxUnavailable: 0 } } });
  const old = ["a", "b", "c"].map((name) => on(name, "old"));
  expect(decide(old, set)).toMatchObject({ create: ["a"], delete: [] });
  expect(decide([...old, on("a", "new", {})], set)).toMatchObject({ create: [], delete: [] });
  expect(decide([...old, on("a")], set).delete).toEqual(["log-a-old"]);
});

it("counts nodes, not pods", () => {
  const { status } = decide([on("a"), on("b", "old", {})]);
  expect(status).toEqual({
    currentNumberScheduled: 2,
    numberMisscheduled: 0,
    desiredNumberScheduled: 3,
    numberReady: 1,
    observedGeneration: 2,
    updatedNumberScheduled: 1,
    numberAvailable: 1,
    numberUnavailable: 2,
  });
});

it("a pod names its node before it is bound", () => {
  const { spec } = templateFor(daemonSet(), "b");
  expect(nodeOf(pod("x", { spec }))).toBe("b");
});
