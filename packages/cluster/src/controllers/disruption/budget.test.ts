import { expect, it } from "vitest";
import type { PodDisruptionBudget } from "../../client/workloads.ts";
import { ago, nowMs, pod } from "../../testing/fixtures.ts";
import { decideBudget } from "./budget.ts";

function budget(
  spec: PodDisruptionBudget["spec"],
  status?: Partial<PodDisruptionBudget["status"]>,
): PodDisruptionBudget {
  const metadata = { name: "web", namespace: "default", uid: "1", resourceVersion: "1", generation: 3 };
  return {
    metadata,
    spec,
    ...(status ? { status: status as PodDisruptionBudget["status"] } : {}),
  } as PodDisruptionBudget;
}

const ready = ["a", "b", "c", "d"].map((name) => pod(name, { readyFor: 60 }));
/** Pods of two ReplicaSets of one Deployment. */
const ten = () => ({ uid: "deployment", replicas: 10 });
const numbers = (given: PodDisruptionBudget, pods = ready) => {
  const { currentHealthy, desiredHealthy, expectedPods, disruptionsAllowed } = decideBudget(
    given,
    pods,
    ten,
    nowMs,
  ).status;
  return [currentHealthy, desiredHealthy, expectedPods, disruptionsAllowed];
};

it.each([
  [{ minAvailable: 3 }, [4, 3, 4, 1]],
  [{ minAvailable: 5 }, [4, 5, 4, 0]],
  [{ minAvailable: "25%" }, [4, 3, 10, 1]],
  [{ maxUnavailable: 7 }, [4, 3, 10, 1]],
  [{ maxUnavailable: 20 }, [4, 0, 10, 4]],
  [{ maxUnavailable: "15%" }, [4, 8, 10, 0]],
])("%j with four ready pods of a Deployment of ten gives %j", (spec, expected) => {
  expect(numbers(budget(spec))).toEqual(expected);
});

it("allows nothing while there are no pods", () => {
  expect(numbers(budget({ minAvailable: 0 }), [])).toEqual([0, 0, 0, 0]);
});

it("does not count a pod that is not ready, is being deleted, or was evicted just now", () => {
  const pods = [
    ...ready,
    pod("starting"),
    pod("ending", { readyFor: 60, metadata: { deletionTimestamp: ago(1) } }),
  ];
  const evicted = { disruptedPods: { a: ago(10), ending: ago(10), gone: ago(10) } };
  const { status, recheckInMs } = decideBudget(budget({ minAvailable: 2 }, evicted), pods, ten, nowMs);
  expect(status).toMatchObject({ currentHealthy: 3, disruptionsAllowed: 1, disruptedPods: { a: ago(10) } });
  expect(recheckInMs).toBe(110_000);
});

it("counts an evicted pod again if it still exists after two minutes", () => {
  const evicted = { disruptedPods: { a: ago(121) } };
  const { status, recheckInMs } = decideBudget(budget({ minAvailable: 2 }, evicted), ready, ten, nowMs);
  expect(status).toMatchObject({ currentHealthy: 4, disruptionsAllowed: 2 });
  expect(status.disruptedPods).toBeUndefined();
  expect(recheckInMs).toBeUndefined();
});

it("says since when evictions are allowed or not", () => {
  const { conditions = [] } = decideBudget(budget({ minAvailable: 2 }), ready, ten, nowMs).status;
  expect(conditions).toEqual([
    {
      type: "DisruptionAllowed",
      status: "True",
      observedGeneration: 3,
      lastTransitionTime: ago(0),
      reason: "SufficientPods",
      message: "",
    },
  ]);
  const later = decideBudget(budget({ minAvailable: 3 }, { conditions }), ready, ten, nowMs + 5_000).status;
  expect(later.conditions?.[0]).toMatchObject({ status: "True", lastTransitionTime: ago(0) });
  const none = decideBudget(budget({ minAvailable: 4 }, { conditions }), ready, ten, nowMs).status;
  expect(none.conditions?.[0]).toMatchObject({ status: "False", reason: "InsufficientPods" });
});
