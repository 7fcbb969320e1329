/** The entry point of the thread, with a port that the test controls. test/processes/election tests real threads. */
import { expect, it, vi } from "vitest";
import type { Notice } from "../candidate.ts";
import type { LockSpec } from "../lock.ts";
import { config } from "../testing/candidates.ts";
import { SharedStatus } from "./shared-status.ts";

const thread = await vi.hoisted(async () => {
  const { EventEmitter } = await import("node:events");
  const notices: Notice[] = [];
  const postMessage = (notice: Notice) => void notices.push(notice);
  return { parentPort: Object.assign(new EventEmitter(), { postMessage }), workerData: {}, notices };
});
vi.mock("node:worker_threads", () => thread);
vi.mock("../locks/lock-from-spec.ts", async () => {
  const { FakeApi } = await import("../testing/fake-api.ts");
  const { LeaseLock } = await import("../locks/lease-lock.ts");
  const { client } = new FakeApi();
  return {
    lockFromSpec: () => new LeaseLock({ name: "x", namespace: "ns", client }),
  };
});

it("performs commands in order, even those that arrive before its lock is ready", async () => {
  const lock: LockSpec = { kind: "lease", options: { name: "x", namespace: "ns" } };
  const { buffer: status } = new SharedStatus();
  Object.assign(thread.workerData, { config, lock, status, endOnOverrun: false, reportsStanding: false });
  const { parentPort: port, notices } = thread;
  const types = () => notices.map(({ type }) => type);
  await import("./thread.ts");
  port.emit("message", { type: "start" });
  await expect.poll(types, { timeout: 4_000 }).toContain("term-started");
  expect(new SharedStatus(status).validUntil()).toBeDefined();
  port.emit("message", { type: "stop" });
  port.emit("message", { type: "work-stopped", cooldownMs: 0 });
  await expect.poll(types, { timeout: 4_000 }).toContain("stopped");
});
