import { expect, it } from "vitest";
import type { Condition } from "../../client/objects.ts";
import type { DeploymentStatus } from "../../client/workloads.ts";
import { ago, deployment, nowMs, replicaSet } from "../../testing/fixtures.ts";
import { countsOf, deadlineInMs, progressOf } from "./status.ts";

const progressing = (reason: string, seconds: number, status: Condition["status"] = "True"): Condition => ({
  type: "Progressing",
  status,
  reason,
  lastUpdateTime: ago(seconds),
  lastTransitionTime: ago(seconds),
});

/** The status of a Deployment with a deadline of 10 s whose new ReplicaSet has these numbers. */
function statusAfter(before: DeploymentStatus, numbers: readonly [number, number, number]) {
  const wanted = deployment({ progressDeadlineSeconds: 10 }, before);
  const newSet = replicaSet("new", numbers);
  const sets = { newSet, all: [newSet] };
  const status = progressOf(wanted, countsOf(wanted, sets, nowMs), sets, nowMs);
  const found = status.conditions?.find(({ type }) => type === "Progressing");
  return { wanted, status, reason: found?.reason, found };
}

const waiting = { updatedReplicas: 3, replicas: 3, availableReplicas: 1, readyReplicas: 1 };

it.each<[string, DeploymentStatus, readonly [number, number, number], string]>([
  ["complete", waiting, [3, 3, 3], "NewReplicaSetAvailable"],
  [
    "progressing",
    { ...waiting, conditions: [progressing("ReplicaSetUpdated", 9)] },
    [3, 3, 2],
    "ReplicaSetUpdated",
  ],
  [
    "waiting",
    { ...waiting, conditions: [progressing("NewReplicaSetCreated", 9)] },
    [3, 3, 1],
    "NewReplicaSetCreated",
  ],
  [
    "late",
    { ...waiting, conditions: [progressing("ReplicaSetUpdated", 11)] },
    [3, 3, 1],
    "ProgressDeadlineExceeded",
  ],
  [
    "complete before, and now without a pod",
    { ...waiting, conditions: [progressing("NewReplicaSetAvailable", 99)] },
    [3, 3, 0],
    "NewReplicaSetAvailable",
  ],
])("a Deployment that is %s says so", (_name, before, numbers, reason) => {
  expect(statusAfter(before, numbers).reason).toBe(reason);
});

it("counts its deadline from the last progress", () => {
  const before = { ...waiting, conditions: [progressing("ReplicaSetUpdated", 9)] };
  const { found, wanted, status } = statusAfter(before, [3, 3, 2]);
  expect(found).toMatchObject({ lastUpdateTime: ago(0), lastTransitionTime: ago(9) });
  expect(deadlineInMs(wanted, status, nowMs)).toBe(11_000);
});

it.each([
  [3, "True"],
  [2, "True"],
  [1, "False"],
])("with %i of three pods available and one that may be missing, Available is %s", (available, expected) => {
  const { status } = statusAfter({}, [3, 3, available]);
  expect(status.conditions?.find(({ type }) => type === "Available")?.status).toBe(expected);
  expect(status.unavailableReplicas).toBe(3 - available);
});
