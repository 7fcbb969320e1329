import { expect, it } from "vitest";
import type { Pod } from "../../client/objects.ts";
import type { StatefulSet } from "../../client/workloads.ts";
import { nowMs, pod } from "../../testing/fixtures.ts";
import { decideStatefulSet, statusOf } from "./decide.ts";

const set = (spec: Partial<StatefulSet["spec"]> = {}): StatefulSet => ({
  metadata: { name: "db", namespace: "default", uid: "uid-db", resourceVersion: "1" },
  spec: { replicas: 3, selector: {}, template: { spec: { containers: [] } }, ...spec },
});
const revisions = { current: "db-old", update: "db-new" };
const deletionTimestamp = "2030-01-01T00:00:00Z";

/** Pods by their number: "new", "old", "starting", "ended" or "stopping". */
function podsOf(states: readonly (string | undefined)[]): Pod[] {
  return states.flatMap((state, ordinal) => {
    if (state === undefined) return [];
    const labels = { "controller-revision-hash": state === "old" ? "db-old" : "db-new" };
    const metadata = { labels, ...(state === "stopping" ? { deletionTimestamp } : {}) };
    const isReady = state === "new" || state === "old";
    const status = state === "ended" ? { phase: "Failed" } : {};
    return [pod(`db-${ordinal}`, { metadata, status, ...(isReady ? { readyFor: 9 } : {}) })];
  });
}

const parallel = { podManagementPolicy: "Parallel" };
const partition = (number: number) => ({
  updateStrategy: { type: "RollingUpdate", rollingUpdate: { partition: number } },
});

it.each<[string, Partial<StatefulSet["spec"]>, (string | undefined)[], number[], string[]]>([
  ["starts the first pod", {}, [], [0], []],
  ["waits for the first before it starts the second", {}, ["starting"], [], []],
  ["starts the second when the first is ready", {}, ["new"], [1], []],
  ["fills a gap", {}, ["new", undefined, "new"], [1], []],
  ["waits for a pod that is stopping", {}, ["new", "stopping", "new"], [], []],
  ["removes a pod that has ended", {}, ["ended", "new", "new"], [], ["db-0"]],
  ["starts all at once if it may", parallel, [], [0, 1, 2], []],
  ["removes the highest first", { replicas: 1 }, ["new", "new", "new"], [], ["db-2"]],
  ["removes the next when the one before is gone", { replicas: 1 }, ["new", "new", "stopping"], [], []],
  [
    "removes all at once if it may",
    { ...parallel, replicas: 1 },
    ["new", "new", "new"],
    [],
    ["db-2", "db-1"],
  ],
  ["updates the highest first", {}, ["old", "old", "old"], [], ["db-2"]],
  ["updates the next when the one before is ready", {}, ["old", "old", "new"], [], ["db-1"]],
  ["does not update below the partition", partition(2), ["old", "old", "new"], [], []],
  [
    "updates nothing by itself with OnDelete",
    { updateStrategy: { type: "OnDelete" } },
    ["old", "old", "old"],
    [],
    [],
  ],
  ["counts from its first number", { ordinals: { start: 5 }, replicas: 1 }, [], [5], []],
])("%s", (_name, spec, states, create, unwanted) => {
  const step = decideStatefulSet(set(spec), podsOf(states), revisions, nowMs);
  expect(step.create.map(({ ordinal }) => ordinal)).toEqual(create);
  expect(step.delete.map(({ metadata }) => metadata.name)).toEqual(unwanted);
});

it("gives pods below the partition the revision that they had", () => {
  const { create } = decideStatefulSet(
    set({ ...parallel, ...partition(1), replicas: 2 }),
    [],
    revisions,
    nowMs,
  );
  expect(create.map(({ revision }) => revision)).toEqual(["db-old", "db-new"]);
});

it("makes the new revision the current one when all pods have it", () => {
  const part = statusOf(set(), podsOf(["old", "new", "new"]), revisions, nowMs);
  expect(part).toMatchObject({ currentRevision: "db-old", updatedReplicas: 2, currentReplicas: 1 });
  const whole = statusOf(set(), podsOf(["new", "new", "new"]), revisions, nowMs);
  expect(whole).toMatchObject({ currentRevision: "db-new", updatedReplicas: 3, currentReplicas: 3 });
});
