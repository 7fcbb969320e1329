import { expect, it } from "vitest";
import type { Pod } from "../../client/objects.ts";
import type { Job, JobStatus } from "../../client/workloads.ts";
import { pod } from "../../testing/fixtures.ts";
import { track, trackingFinalizer } from "./track.ts";

const job = (status: JobStatus = {}): Job => ({
  metadata: { name: "work", namespace: "default", uid: "uid-work", resourceVersion: "1" },
  spec: { completions: 5, template: { spec: { containers: [] } } },
  status,
});
const held = (name: string, phase: string): Pod =>
  pod(name, { metadata: { finalizers: [trackingFinalizer] }, status: { phase } });

it("records a pod first, then lets it go, then counts it, and never twice", () => {
  const finished = held("a", "Succeeded");
  const first = track(job(), [finished]);
  expect(first.status).toMatchObject({ succeeded: 0, uncountedTerminatedPods: { succeeded: ["uid-a"] } });
  expect([first.succeeded, first.release]).toEqual([1, []]);

  const second = track(job(first.status), [finished]);
  expect(second.status).toEqual(first.status);
  expect([second.succeeded, second.release]).toEqual([1, [finished]]);

  const third = track(job(second.status), [pod("a", { status: { phase: "Succeeded" } })]);
  expect(third.status).toMatchObject({ succeeded: 1, uncountedTerminatedPods: {} });
  const fourth = track(job(third.status), [pod("a", { status: { phase: "Succeeded" } })]);
  expect(fourth.succeeded).toBe(1);
});

it("counts a recorded pod that is gone", () => {
  const { status } = track(job({ failed: 2, uncountedTerminatedPods: { failed: ["uid-gone"] } }), []);
  expect(status).toMatchObject({ failed: 3, uncountedTerminatedPods: {} });
});

it("counts a pod that is deleted before it ended as failed", () => {
  const deleted = held("a", "Running");
  const marked = { ...deleted, metadata: { ...deleted.metadata, deletionTimestamp: "2030-01-01T00:00:00Z" } };
  expect(track(job(), [marked]).failed).toBe(1);
  expect(track(job(), [deleted]).failed).toBe(0);
});
