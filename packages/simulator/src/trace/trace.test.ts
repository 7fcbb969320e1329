import { expect, test } from "vitest";
import { drawPlan, type Plan } from "../plan.ts";
import { simulate } from "../simulation.ts";
import { Trace, withoutUnspecified } from "./trace.ts";

const timings = { leaseDuration: "15s", renewDeadline: "10s", retryPeriod: "2s" };
const alone: Plan = {
  seed: 1,
  lock: undefined,
  waitWhenAbsent: false,
  failWhenDenied: false,
  processes: [
    { kind: "tenure", timings, rate: 1, wallSkewMs: 0, startMs: 0, credentials: "service-account" },
  ],
  faults: [],
  calmAfterMs: 1,
};

async function stepsOf(plan: Plan) {
  const trace = new Trace();
  await simulate(plan, trace);
  return { trace, steps: trace.steps.filter(({ op }) => op !== "pass") };
}

test("a candidate finds no lock, creates it, and works while it renews it", async () => {
  const { steps } = await stepsOf(alone);
  expect(steps.slice(0, 8)).toMatchObject([
    { op: "restart", p: "p1" },
    { op: "observe", v: 1, heeds: false, token: 0 },
    { op: "acquire", over: 0 },
    { op: "commit", p: "p1", over: 0 },
    { op: "observe", v: 2, heeds: true, token: 2 },
    { op: "work", p: "p1" },
    { op: "renew", over: 2 },
    { op: "commit", p: "p1", over: 2 },
  ]);
});

test("the steps of a deletion, a foreign write and a crash are recorded", async () => {
  const fault = { atMs: 0, forMs: 1_000, target: 0, amount: 0 };
  const { steps, trace } = await stepsOf({
    ...alone,
    faults: [
      { ...fault, kind: "annotate", atMs: 1_000 },
      { ...fault, kind: "delete", atMs: 5_000 },
      { ...fault, kind: "crash", atMs: 30_000 },
    ],
    calmAfterMs: 60_000,
  });
  const ops = steps.map(({ op }) => op);
  expect(ops).toContain("annotate");
  expect(steps[ops.indexOf("delete") + 1]).toMatchObject({ op: "observe", heeds: false, left: 0 });
  expect(steps.findLast(({ op }) => op === "restart")).toMatchObject({ p: "p2" });
  expect(trace.unspecified).toBeUndefined();
});

test("a history that the specification does not describe is marked", async () => {
  const { trace } = await stepsOf({
    ...alone,
    faults: [{ kind: "empty-by-hand", atMs: 1_000, forMs: 0, target: 0, amount: 0 }],
  });
  expect(trace.unspecified).toBe("somebody edited the record");
});

test("plans are changed so that the specification describes them", () => {
  const plans = Array.from({ length: 200 }, (_, seed) => withoutUnspecified(drawPlan(seed)));
  expect(plans.flatMap(({ processes }) => processes).every(({ kind }) => kind === "tenure")).toBe(true);
  expect(plans.flatMap(({ faults }) => faults).some(({ kind }) => kind === "restore")).toBe(false);
});
