import { expect, it } from "vitest";
import type { Deployment, ReplicaSet } from "../../client/workloads.ts";
import { deployment, nowMs, pod, replicaSet } from "../../testing/fixtures.ts";
import { decideDeployment } from "./decide.ts";

const template = (image: string) => ({
  metadata: { labels: { app: "web" } },
  spec: { containers: [{ name: "main", image }] },
});
const revision = (number: number) => ({
  annotations: { "deployment.kubernetes.io/revision": String(number) },
});
const updated = (spec: Partial<Deployment["spec"]> = {}) =>
  deployment({ template: template("main:2"), ...spec });
const decide = (wanted: Deployment, sets: ReplicaSet[], hasPods = false) =>
  decideDeployment(wanted, sets, () => (hasPods ? [pod("left", { readyFor: 1 })] : []), nowMs);
const sizes = ({ replace }: ReturnType<typeof decide>) =>
  Object.fromEntries(replace.map(({ after }) => [after.metadata.name, after.spec.replicas]));

it("creates a ReplicaSet for a new template, with the next revision", () => {
  const step = decide(updated(), [replicaSet("old", [3], { metadata: revision(4) })]);
  expect(step).toMatchObject({ create: { size: 1, revision: 5n }, revision: "5", replace: [], delete: [] });
});

it("counts on from a revision that no floating-point number can hold", () => {
  const metadata = { annotations: { "deployment.kubernetes.io/revision": "3546343826724305832" } };
  expect(decide(updated(), [replicaSet("old", [3], { metadata })]).revision).toBe("3546343826724305833");
});

it("reuses the ReplicaSet of an earlier template, and gives it a new revision", () => {
  const first = replicaSet("first", [0], { metadata: revision(1) });
  const second = replicaSet("second", [3], { image: "main:2", metadata: revision(2) });
  const step = decide(deployment(), [first, second]);
  expect(step.create).toBeUndefined();
  expect(step.revision).toBe("3");
  expect(step.replace[0]?.after.metadata.annotations).toMatchObject({
    "deployment.kubernetes.io/revision": "3",
    "deployment.kubernetes.io/revision-history": "1",
  });
});

it.each([
  [30, undefined, 0],
  [undefined, 30, 30],
  [30, 5, 5],
])("changes minReadySeconds of its ReplicaSet from %s to %s", (before, wanted, after) => {
  const set = replicaSet("web", [3], { metadata: revision(1) });
  const running = { ...set, spec: { ...set.spec, ...(before !== undefined && { minReadySeconds: before }) } };
  const step = decide(deployment({ ...(wanted !== undefined && { minReadySeconds: wanted }) }), [running]);
  expect(step.replace.map((each) => each.after.spec.minReadySeconds)).toEqual([after]);
});

it("does not roll out while it is paused, but follows a change of its size", () => {
  const step = decide(updated({ paused: true, replicas: 5 }), [replicaSet("old", [3])]);
  expect(step.create).toBeUndefined();
  expect(sizes(step)).toEqual({ old: 5 });
});

it("shrinks everything old before it creates something new, if it recreates", () => {
  const wanted = updated({ strategy: { type: "Recreate" } });
  const running = decide(wanted, [replicaSet("old", [3])], true);
  expect([running.create, sizes(running)]).toEqual([undefined, { old: 0 }]);
  const stopping = decide(wanted, [replicaSet("old", [0, 0])], true);
  expect([stopping.create, sizes(stopping)]).toEqual([undefined, {}]);
  expect(decide(wanted, [replicaSet("old", [0, 0])]).create).toEqual({ size: 3, revision: 1n });
});

it("only reports its status while it is being deleted", () => {
  const wanted = updated();
  const deleted = { ...wanted, metadata: { ...wanted.metadata, deletionTimestamp: "2030-01-01T00:00:00Z" } };
  const step = decide(deleted, [replicaSet("old", [3])]);
  expect([step.create, step.replace, step.delete]).toEqual([undefined, [], []]);
});

it("deletes the oldest ReplicaSets beyond the limit, when the rollout is complete", () => {
  const sets = [
    replicaSet("one", [0], { image: "main:a", metadata: revision(1) }),
    replicaSet("two", [0], { image: "main:b", metadata: revision(2) }),
    replicaSet("three", [3], { metadata: revision(3) }),
  ];
  const step = decide(deployment({ revisionHistoryLimit: 1 }), sets);
  expect(step.delete.map(({ metadata }) => metadata.name)).toEqual(["one"]);
  const busy = [...sets.slice(0, 2), replicaSet("three", [3, 3, 2], { metadata: revision(3) })];
  expect(decide(deployment({ revisionHistoryLimit: 1 }), busy).delete).toEqual([]);
});
