import { expect, it } from "vitest";
import { nowMs, pod, replicaSet } from "../../testing/fixtures.ts";
import { decidePods, statusOf } from "./decide.ts";

const labels = { app: "web", "pod-template-hash": "web" };
const three = [pod("a", { readyFor: 60, metadata: { labels } }), pod("b", { readyFor: 1 }), pod("c")];

it.each([
  [5, { create: 2, delete: [] }],
  [3, { create: 0, delete: [] }],
  [2, { create: 0, delete: ["c"] }],
  [0, { create: 0, delete: ["c", "b", "a"] }],
])("with three pods and %i wanted it decides %j", (replicas, expected) => {
  const { create, delete: unwanted } = decidePods(replicaSet("web", [replicas]), three, three, nowMs);
  expect({ create, delete: unwanted.map(({ metadata }) => metadata.name) }).toEqual(expected);
});

it("creates at most 500 pods at once", () => {
  expect(decidePods(replicaSet("web", [2000]), [], [], nowMs).create).toBe(500);
});

it("counts pods by labels, readiness and how long they are ready", () => {
  const set = replicaSet("web", [3]);
  const status = statusOf({ ...set, spec: { ...set.spec, minReadySeconds: 30 } }, three, undefined, nowMs);
  expect(status).toEqual({
    replicas: 3,
    fullyLabeledReplicas: 1,
    readyReplicas: 2,
    availableReplicas: 1,
    observedGeneration: 1,
  });
});

it("reports a failure until it is over", () => {
  const set = replicaSet("web", [3]);
  const failure = { reason: "FailedCreate", message: "quota" } as const;
  const failed = statusOf(set, [], failure, nowMs);
  expect(failed.conditions).toMatchObject([{ type: "ReplicaFailure", status: "True", ...failure }]);
  expect(statusOf({ ...set, status: failed }, [], undefined, nowMs).conditions).toBeUndefined();
});
