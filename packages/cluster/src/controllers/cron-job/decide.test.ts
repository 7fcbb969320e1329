import { expect, it } from "vitest";
import type { CronJob, Job } from "../../client/workloads.ts";
import { ago, nowMs } from "../../testing/fixtures.ts";
import { decideCronJob, jobFor } from "./decide.ts";

const metadata = (name: string) => ({ name, namespace: "default", uid: `uid-${name}`, resourceVersion: "1" });

/** Every minute, since 90 seconds. */
function cron(spec: Partial<CronJob["spec"]> = {}, status: CronJob["status"] = {}): CronJob {
  return {
    metadata: { ...metadata("report"), creationTimestamp: ago(90) },
    spec: {
      schedule: "* * * * *",
      jobTemplate: { spec: { template: { spec: { containers: [] } } } },
      ...spec,
    },
    status,
  };
}
function job(name: string, end?: "Complete" | "Failed", secondsAgo = 30): Job {
  const conditions = end ? [{ type: end, status: "True" as const }] : [];
  const status = {
    conditions,
    startTime: ago(secondsAgo),
    ...(end ? { completionTime: ago(secondsAgo) } : {}),
  };
  return { metadata: metadata(name), spec: { template: { spec: { containers: [] } } }, status };
}
const names = (jobs: readonly Job[]) => jobs.map((each) => each.metadata.name);

it("starts a Job for the latest time that has passed, and looks again at the next", () => {
  expect(decideCronJob(cron(), [], nowMs)).toEqual({
    dueMs: nowMs,
    delete: [],
    againInMs: 60_000,
    status: { lastScheduleTime: ago(0) },
  });
  const done = decideCronJob(cron({}, { lastScheduleTime: ago(0) }), [], nowMs + 1_000);
  expect([done.dueMs, done.againInMs]).toEqual([undefined, 59_000]);
});

it("after a long time without a controller it starts one Job, for the latest time", () => {
  const late = cron({}, { lastScheduleTime: ago(7 * 24 * 3600) });
  expect(decideCronJob(late, [], nowMs).dueMs).toBe(nowMs);
});

it("does nothing while it is suspended", () => {
  const step = decideCronJob(cron({ suspend: true }), [job("a")], nowMs);
  expect([step.dueMs, step.againInMs]).toEqual([undefined, undefined]);
  expect(step.status.active).toMatchObject([{ name: "a" }]);
});

it.each([
  ["Allow", nowMs, []],
  ["Forbid", undefined, []],
  ["Replace", nowMs, ["running"]],
])("with the policy %s and a Job that runs", (concurrencyPolicy, dueMs, deleted) => {
  const step = decideCronJob(cron({ concurrencyPolicy }), [job("running")], nowMs);
  expect([step.dueMs, names(step.delete)]).toEqual([dueMs, deleted]);
});

it("leaves out a time whose deadline has passed", () => {
  const step = decideCronJob(cron({ startingDeadlineSeconds: 5, schedule: "59 23 * * *" }), [], nowMs);
  expect([step.dueMs, step.skipped]).toEqual([undefined, undefined]);
  const strict = cron({ startingDeadlineSeconds: 30, schedule: "* * * * *" });
  expect(decideCronJob(strict, [], nowMs + 20_000).dueMs).toBe(nowMs);
});

it("keeps as many finished Jobs as it should, and knows the last success", () => {
  const jobs = [
    ...[50, 40, 30, 20].map((seconds) => job(`done-${seconds}`, "Complete", seconds)),
    ...[45, 35].map((seconds) => job(`failed-${seconds}`, "Failed", seconds)),
  ];
  const step = decideCronJob(cron({}, { lastScheduleTime: ago(0) }), jobs, nowMs);
  expect(names(step.delete)).toEqual(["done-50", "failed-45"]);
  expect(step.status.lastSuccessfulTime).toBe(ago(20));
});

it("says why a schedule cannot be used", () => {
  expect(decideCronJob(cron({ schedule: "never" }), [], nowMs).problem).toContain("five fields");
  expect(decideCronJob(cron({ timeZone: "Nowhere" }), [], nowMs).problem).toContain("Nowhere");
});

it("the Job of a time always has the same name", () => {
  const owner = { apiVersion: "batch/v1", kind: "CronJob", name: "report", uid: "1" };
  expect(jobFor(cron(), nowMs, owner)).toMatchObject({
    metadata: { name: `report-${nowMs / 60_000}`, ownerReferences: [owner] },
  });
});
