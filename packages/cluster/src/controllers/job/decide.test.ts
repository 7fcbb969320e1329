import { expect, it } from "vitest";
import type { Pod } from "../../client/objects.ts";
import type { Job } from "../../client/workloads.ts";
import { ago, nowMs, pod } from "../../testing/fixtures.ts";
import { decideJob } from "./decide.ts";
import { trackingFinalizer } from "./track.ts";

function job(spec: Partial<Job["spec"]> = {}, status: Job["status"] = { startTime: ago(5) }): Job {
  return {
    metadata: { name: "work", namespace: "default", uid: "uid-work", resourceVersion: "1" },
    spec: { completions: 5, parallelism: 2, template: { spec: { containers: [] } }, ...spec },
    status,
  };
}
const finalizers = [trackingFinalizer];
const running = (name: string): Pod => pod(name, { readyFor: 1, metadata: { finalizers } });
const ended = (name: string, phase: string, secondsAgo: number): Pod =>
  pod(name, {
    metadata: { finalizers },
    status: { phase, conditions: [{ type: "Ready", status: "False", lastTransitionTime: ago(secondsAgo) }] },
  });
const decide = (wanted: Job, pods: Pod[] = [], isSettled = true) => decideJob(wanted, pods, isSettled, nowMs);

it.each<[string, Partial<Job["spec"]>, Pod[], { create: number; discard: number }]>([
  ["starts as many as may run at once", {}, [], { create: 2, discard: 0 }],
  ["starts only what is missing", {}, [running("a")], { create: 1, discard: 0 }],
  ["starts no more than it needs", { completions: 1 }, [], { create: 1, discard: 0 }],
  ["stops what is too many", { parallelism: 1 }, [running("a"), running("b")], { create: 0, discard: 1 }],
  ["stops everything while it is suspended", { suspend: true }, [running("a")], { create: 0, discard: 1 }],
  [
    "starts one for each success that is missing",
    { completions: 2 },
    [ended("a", "Succeeded", 9)],
    { create: 1, discard: 0 },
  ],
])("%s", (_name, spec, pods, expected) => {
  const { create, discard } = decide(job(spec), pods);
  expect({ create: create.length, discard: discard.length }).toEqual(expected);
});

it("starts nothing while its writes are not visible", () => {
  expect(decide(job(), [], false).create).toEqual([]);
});

it.each([
  [1, 0, { create: 0, againInMs: 10_000 }],
  [2, 0, { create: 0, againInMs: 20_000 }],
  [1, 10, { create: 2, againInMs: undefined }],
])("waits after %i failures, the last %i s ago", (count, secondsAgo, expected) => {
  const pods = Array.from({ length: count }, (_, index) => ended(`f${index}`, "Failed", secondsAgo));
  const { create, againInMs } = decide(job(), pods);
  expect({ create: create.length, againInMs }).toEqual(expected);
});

it.each<[string, Partial<Job["spec"]>, Pod[], string]>([
  ["enough pods succeeded", { completions: 1 }, [ended("a", "Succeeded", 1)], "CompletionsReached"],
  ["pods failed too often", { backoffLimit: 0 }, [ended("a", "Failed", 1)], "BackoffLimitExceeded"],
  ["the deadline passed", { activeDeadlineSeconds: 5 }, [running("a")], "DeadlineExceeded"],
])("announces its end when %s, and stops all pods first", (_name, spec, pods, reason) => {
  const step = decide(job(spec), pods);
  expect(step.status.conditions).toMatchObject([{ reason }]);
  expect(step.create).toEqual([]);
  expect(step.delete).toHaveLength(pods.filter(({ status }) => status?.phase === "Running").length);
});

it("ends only when no pod is left and all are counted", () => {
  const announced = { type: "SuccessCriteriaMet", status: "True", reason: "CompletionsReached" } as const;
  const status = { startTime: ago(5), succeeded: 5, conditions: [announced] };
  const types = (step: ReturnType<typeof decide>) => step.status.conditions?.map(({ type }) => type);
  expect(types(decide(job({}, status), [running("a")]))).toEqual(["SuccessCriteriaMet"]);
  expect(types(decide(job({}, status)))).toEqual(["SuccessCriteriaMet", "Complete"]);
});
