import { expect, it } from "vitest";
import type { Condition, Node } from "../../client/objects.ts";
import { node, nowMs } from "../../testing/fixtures.ts";
import { lifeSignOf, unknownConditions, wantedTaints } from "./health.ts";

const withConditions = (...conditions: [string, Condition["status"]][]): Node =>
  node("a", { status: { conditions: conditions.map(([type, status]) => ({ type, status })) } });
const taints = (target: Node, mayEvict = true) =>
  wantedTaints(target, mayEvict, nowMs).map(({ key, effect }) => `${key.split("/").at(-1)}:${effect}`);

it.each<[string, Node, string[]]>([
  ["is ready", withConditions(["Ready", "True"]), []],
  ["is not ready", withConditions(["Ready", "False"]), ["not-ready:NoSchedule", "not-ready:NoExecute"]],
  ["is unknown", withConditions(["Ready", "Unknown"]), ["unreachable:NoSchedule", "unreachable:NoExecute"]],
  ["is new", withConditions(), ["not-ready:NoSchedule"]],
  [
    "has little memory",
    withConditions(["Ready", "True"], ["MemoryPressure", "True"]),
    ["memory-pressure:NoSchedule"],
  ],
  [
    "is cordoned",
    { ...withConditions(["Ready", "True"]), spec: { unschedulable: true } },
    ["unschedulable:NoSchedule"],
  ],
])("a node that %s", (_name, target, expected) => {
  expect(taints(target)).toEqual(expected);
});

it("evicts nothing when no node gives a sign of life", () => {
  expect(taints(withConditions(["Ready", "Unknown"]), false)).toEqual(["unreachable:NoSchedule"]);
});

it("keeps the taints of others, and removes its own when they no longer apply", () => {
  const own = { key: "node.kubernetes.io/not-ready", effect: "NoExecute" };
  const target = {
    ...withConditions(["Ready", "True"]),
    spec: { taints: [{ key: "gpu", effect: "NoSchedule" }, own] },
  };
  expect(taints(target)).toEqual(["gpu:NoSchedule"]);
});

it("knows nothing about a node that is silent, and says so once", () => {
  const changed = unknownConditions(withConditions(["Ready", "True"]), nowMs);
  expect(changed?.map(({ type, status, reason }) => `${type} ${status} ${reason}`)).toEqual([
    "Ready Unknown NodeStatusUnknown",
    "MemoryPressure Unknown NodeStatusNeverUpdated",
    "DiskPressure Unknown NodeStatusNeverUpdated",
    "PIDPressure Unknown NodeStatusNeverUpdated",
  ]);
  const known = (changed ?? []).map(({ type, status }): [string, Condition["status"]] => [type, status]);
  expect(unknownConditions(withConditions(...known), nowMs)).toBeUndefined();
});

it("sees a sign of life in a renewed Lease", () => {
  const lease = (renewTime: string) => ({
    metadata: { name: "a", uid: "lease", resourceVersion: "1" },
    spec: { renewTime },
  });
  const target = withConditions(["Ready", "True"]);
  expect(lifeSignOf(target, lease("1"))).toBe(lifeSignOf(target, lease("1")));
  expect(lifeSignOf(target, lease("2"))).not.toBe(lifeSignOf(target, lease("1")));
});
