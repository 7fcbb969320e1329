import { expect, it } from "vitest";
import type { ReplicaSet } from "../../client/workloads.ts";
import { deployment, replicaSet } from "../../testing/fixtures.ts";
import { newSetSize, oldSetSizes, scaledSizes } from "./sizes.ts";

const rolling = (replicas: number, maxSurge: number | string, maxUnavailable: number | string) =>
  deployment({ replicas, strategy: { type: "RollingUpdate", rollingUpdate: { maxSurge, maxUnavailable } } });

/** A ReplicaSet that was last scaled for a Deployment of this size. */
function sized(set: ReplicaSet, desired: number, most: number): ReplicaSet {
  const annotations = {
    "deployment.kubernetes.io/desired-replicas": String(desired),
    "deployment.kubernetes.io/max-replicas": String(most),
  };
  return { ...set, metadata: { ...set.metadata, annotations } };
}

it.each([
  ["starts with what the surge allows", rolling(10, 2, 2), 10, 0, 2],
  ["grows as the old ones shrink", rolling(10, 2, 2), 8, 2, 4],
  ["waits when there is no room", rolling(10, 2, 2), 10, 2, 2],
  ["never grows beyond the wanted number", rolling(3, 5, 0), 0, 2, 3],
  ["shrinks to the wanted number", rolling(3, 1, 0), 0, 7, 3],
])("the new ReplicaSet %s", (_name, wanted, old, size, expected) => {
  const all = [replicaSet("old", [old]), replicaSet("new", [size])];
  expect(newSetSize(wanted, all, size)).toBe(expected);
});

it("the new ReplicaSet waits until the old one has deleted the pods that it gives up", () => {
  const wanted = rolling(6, 1, 1);
  const created = replicaSet("new", [1, 1, 1]);
  expect(newSetSize(wanted, [replicaSet("old", [5, 6, 6]), created], 1)).toBe(1);
  expect(newSetSize(wanted, [replicaSet("old", [5, 5, 5]), created], 1)).toBe(2);
});

it.each<[string, ReturnType<typeof rolling>, ReplicaSet, ReplicaSet[], Record<string, number>]>([
  [
    "shrink to what may be unavailable",
    rolling(10, 2, 2),
    replicaSet("new", [2, 2, 0]),
    [replicaSet("old", [10])],
    { old: 8 },
  ],
  ["wait for the new pods", rolling(10, 2, 2), replicaSet("new", [4, 4, 0]), [replicaSet("old", [8])], {}],
  [
    "shrink as new pods become available",
    rolling(10, 2, 2),
    replicaSet("new", [4, 4, 3]),
    [replicaSet("old", [8])],
    { old: 5 },
  ],
  [
    "lose pods that are not available first",
    rolling(10, 2, 2),
    replicaSet("new", [0]),
    [replicaSet("oldest", [2, 2, 2]), replicaSet("old", [8, 8, 4])],
    { old: 6 },
  ],
  [
    "do not count pods twice whose removal is not in the status yet",
    rolling(3, 1, 0),
    replicaSet("new", [1, 1, 1]),
    [replicaSet("old", [2, 3, 3])],
    {},
  ],
])("the old ReplicaSets %s", (_name, wanted, newSet, old, expected) => {
  expect(Object.fromEntries(oldSetSizes(wanted, newSet, old))).toEqual(expected);
});

it.each<[string, ReturnType<typeof rolling>, ReplicaSet, ReplicaSet[], Record<string, number>]>([
  [
    "the only active one takes all",
    rolling(5, 1, 1),
    replicaSet("new", [0]),
    [replicaSet("old", [3])],
    { old: 5 },
  ],
  ["the new one takes all if none is active", rolling(5, 1, 1), replicaSet("new", [0]), [], { new: 5 }],
  [
    "a change is shared in proportion",
    rolling(20, 0, 1),
    sized(replicaSet("new", [4]), 10, 10),
    [sized(replicaSet("old", [6]), 10, 10)],
    { old: 12, new: 8 },
  ],
  [
    "everything stops at 0",
    rolling(0, 1, 1),
    sized(replicaSet("new", [1]), 3, 4),
    [sized(replicaSet("old", [3]), 3, 4)],
    { old: 0, new: 0 },
  ],
  [
    "what is left over goes to the largest",
    rolling(4, 0, 1),
    sized(replicaSet("new", [1]), 3, 3),
    [sized(replicaSet("old", [2]), 3, 3)],
    { old: 3, new: 1 },
  ],
])("when the Deployment is scaled, %s", (_name, wanted, newSet, old, expected) => {
  expect(Object.fromEntries(scaledSizes(wanted, newSet, old))).toEqual(expected);
});
