import { expect, it } from "vitest";
import type { Pod } from "../../client/objects.ts";
import type { Job, PodFailureRule } from "../../client/workloads.ts";
import { pod } from "../../testing/fixtures.ts";
import {
  awaitingReplacement,
  endsIndex,
  failureAction,
  failureAnnotations,
  failuresAfter,
  isIgnored,
} from "./failures.ts";
import { indexKey } from "./indexes.ts";

function job(spec: Partial<Job["spec"]> = {}): Job {
  return {
    metadata: { name: "work", namespace: "default", uid: "uid-work", resourceVersion: "1" },
    spec: { completions: 5, completionMode: "Indexed", template: { spec: { containers: [] } }, ...spec },
  };
}
const withRules = (...rules: PodFailureRule[]) => job({ podFailurePolicy: { rules } });

function failed(exitCode: number, { index = 0, failures = 0, ignored = 0, name = "a" } = {}): Pod {
  const annotations = { [indexKey]: String(index), ...failureAnnotations({ counted: failures, ignored }) };
  const terminated = { exitCode };
  const status = { phase: "Failed", containerStatuses: [{ name: "main", state: { terminated } }] };
  return pod(name, { metadata: { annotations }, status });
}

const exits = (action: string, operator: string, ...values: number[]): PodFailureRule => ({
  action,
  onExitCodes: { operator, values },
});

it("the first rule that matches decides", () => {
  const policy = withRules(exits("Ignore", "In", 3, 4), exits("FailJob", "NotIn", 5));
  expect(failureAction(policy, failed(3))?.action).toBe("Ignore");
  expect(failureAction(policy, failed(7))).toEqual({
    action: "FailJob",
    message: "Container main for pod default/a failed with exit code 7 matching FailJob rule at index 1",
  });
  expect(failureAction(policy, failed(5))).toBeUndefined();
});

it("a rule can name a container and a condition", () => {
  const other = {
    ...exits("FailJob", "In", 3),
    onExitCodes: { containerName: "side", operator: "In", values: [3] },
  };
  expect(failureAction(withRules(other), failed(3))).toBeUndefined();
  const disrupted = withRules({ action: "Ignore", onPodConditions: [{ type: "DisruptionTarget" }] });
  const evicted = pod("a", {
    status: { phase: "Failed", conditions: [{ type: "DisruptionTarget", status: "True" }] },
  });
  expect(isIgnored(disrupted, evicted)).toBe(true);
  expect(isIgnored(disrupted, failed(1))).toBe(false);
});

it("an index ends when its failures exceed the limit, or when a rule says so", () => {
  const limited = job({ backoffLimitPerIndex: 1 });
  expect(endsIndex(limited, failed(1, { failures: 0 }))).toBe(false);
  expect(endsIndex(limited, failed(1, { failures: 1 }))).toBe(true);
  const policy = { rules: [exits("FailIndex", "In", 9), exits("Ignore", "In", 8)] };
  const strict = job({ backoffLimitPerIndex: 1, podFailurePolicy: policy });
  expect(endsIndex(strict, failed(9))).toBe(true);
  expect(endsIndex(strict, failed(8, { failures: 5 }))).toBe(false);
});

it("a replacement carries the failures of the pods before it, and ignored ones apart", () => {
  const limited = job({ podFailurePolicy: { rules: [exits("Ignore", "In", 8)] } });
  expect(failuresAfter(limited, undefined)).toEqual({ counted: 0, ignored: 0 });
  expect(failuresAfter(limited, failed(1, { failures: 2 }))).toEqual({ counted: 3, ignored: 0 });
  expect(failuresAfter(limited, failed(8, { failures: 2 }))).toEqual({ counted: 2, ignored: 1 });
});

it("the last failed pod of an index is kept until its replacement exists", () => {
  const limited = job({ backoffLimitPerIndex: 3 });
  const first = failed(1, { name: "first", index: 2 });
  const second = failed(1, { name: "second", index: 2, failures: 1 });
  const awaiting = (pods: Pod[], ended = new Set<number>()) =>
    [...awaitingReplacement(limited, pods, ended).values()].map(({ metadata }) => metadata.name);
  expect(awaiting([second, first])).toEqual(["second"]);
  expect(awaiting([second, first], new Set([2]))).toEqual([]);
  const replacement = pod("third", { readyFor: 1, metadata: { annotations: { [indexKey]: "2" } } });
  expect(awaiting([second, first, replacement])).toEqual([]);
});
