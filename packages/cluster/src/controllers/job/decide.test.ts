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

/** A failed pod of an index, with the failures of the pods before it. */
const failedAt = (name: string, index: number, failures = 0, secondsAgo = 60): Pod => {
  const failed = ended(name, "Failed", secondsAgo);
  const annotations = {
    "batch.kubernetes.io/job-completion-index": String(index),
    "batch.kubernetes.io/job-index-failure-count": String(failures),
  };
  return { ...failed, metadata: { ...failed.metadata, annotations } };
};
const perIndex = { completionMode: "Indexed", backoffLimitPerIndex: 1, completions: 3, backoffLimit: 1e9 };

it("with a limit for each index, one index waits for its retry and the others go on", () => {
  const step = decide(job(perIndex), [failedAt("a", 0, 0, 5)]);
  expect(step.create).toEqual([{ index: 1, failures: { counted: 0, ignored: 0 } }]);
  expect([step.againInMs, step.release]).toEqual([5_000, []]);
  const later = decide(job(perIndex), [failedAt("a", 0)]);
  expect(later.create).toContainEqual({ index: 0, failures: { counted: 1, ignored: 0 } });
});

it("an index that failed too often gets no other pod, and the Job fails when the others have ended", () => {
  const step = decide(job(perIndex), [failedAt("a", 0, 1)]);
  expect(step.status.failedIndexes).toBe("0");
  expect(step.create.map(({ index }) => index)).toEqual([1, 2]);
  const status = { startTime: ago(5), completedIndexes: "1,2" };
  const last = decide(job(perIndex, status), [failedAt("a", 0, 1)]);
  expect(last.status.conditions).toMatchObject([{ type: "FailureTarget", reason: "FailedIndexes" }]);
  const strict = decide(job({ ...perIndex, maxFailedIndexes: 0 }), [failedAt("a", 0, 1), running("b")]);
  expect(strict.status.conditions).toMatchObject([{ reason: "MaxFailedIndexesExceeded" }]);
  expect(strict.delete.map(({ metadata }) => metadata.name)).toEqual(["b"]);
});

it("a failed pod that waits for its replacement is counted before the Job ends", () => {
  const announced = { type: "FailureTarget", status: "True", reason: "DeadlineExceeded" } as const;
  const waiting = decide(job({ ...perIndex, activeDeadlineSeconds: 1 }), [failedAt("a", 0)]);
  expect(waiting.status.conditions?.map(({ type }) => type)).toEqual(["FailureTarget"]);
  const ending = decide(job(perIndex, { startTime: ago(5), conditions: [announced] }), [failedAt("a", 0)]);
  expect(ending.status.uncountedTerminatedPods).toEqual({ failed: ["uid-a"] });
  expect(ending.status.conditions?.map(({ type }) => type)).toEqual(["FailureTarget"]);
});

it("an ignored failure does not count, and a fatal one ends the Job", () => {
  const condition = [{ type: "Ready", status: "False" }];
  const rules = (action: string) => ({
    podFailurePolicy: { rules: [{ action, onPodConditions: condition }] },
    backoffLimit: 0,
  });
  const ignored = decide(job(rules("Ignore")), [ended("a", "Failed", 60)]);
  expect(ignored.status.conditions).toBeUndefined();
  expect(ignored.status.uncountedTerminatedPods).toEqual({});
  expect(ignored.release.map(({ metadata }) => metadata.name)).toEqual(["a"]);
  const fatal = decide(job({ ...rules("FailJob"), backoffLimit: 5 }), [ended("a", "Failed", 60)]);
  expect(fatal.status.conditions).toMatchObject([{ type: "FailureTarget", reason: "PodFailurePolicy" }]);
});

it("a success policy ends the Job before all indexes have succeeded", () => {
  const successPolicy = { rules: [{ succeededCount: 1 }] };
  const step = decide(job({ completionMode: "Indexed", successPolicy }, { completedIndexes: "2" }), [
    running("a"),
  ]);
  expect(step.status.conditions).toMatchObject([{ type: "SuccessCriteriaMet", reason: "SuccessPolicy" }]);
  expect(step.delete).toHaveLength(1);
});
