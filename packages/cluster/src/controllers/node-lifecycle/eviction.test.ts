import { expect, it } from "vitest";
import type { Taint, Toleration } from "../../client/objects.ts";
import { ago, nowMs, pod } from "../../testing/fixtures.ts";
import { evictedInMs } from "./eviction.ts";

const taint: Taint = { key: "unreachable", effect: "NoExecute", timeAdded: ago(100) };
const exists: Toleration = { key: "unreachable", operator: "Exists", effect: "NoExecute" };

it.each<[string, Toleration[], Taint[], number | undefined]>([
  ["without a toleration at once", [], [taint], 0],
  ["not at all without a taint", [], [], undefined],
  ["not because of a taint that only repels new pods", [], [{ ...taint, effect: "NoSchedule" }], undefined],
  ["never with a toleration without a limit", [exists], [taint], undefined],
  [
    "after the time that it tolerates, from when the taint was added",
    [{ ...exists, tolerationSeconds: 300 }],
    [taint],
    200_000,
  ],
  ["at once when that time is over", [{ ...exists, tolerationSeconds: 99 }], [taint], 0],
  [
    "at once if it tolerates only one of two taints",
    [exists],
    [taint, { key: "other", effect: "NoExecute" }],
    0,
  ],
  [
    "after the shortest of several times",
    [
      { ...exists, tolerationSeconds: 300 },
      { ...exists, tolerationSeconds: 150 },
    ],
    [taint],
    50_000,
  ],
])("a pod leaves %s", (_name, tolerations, taints, expected) => {
  expect(evictedInMs(pod("a", { spec: { tolerations } }), taints, nowMs)).toBe(expected);
});
