/** Worker mode in the main thread, with a thread that the test controls. test/processes/election tests real threads. */

import { VirtualClock } from "@tenure/base/virtual-clock";
import { MemoryServer } from "@tenure/testkit";
import { beforeEach, describe, expect, it, vi } from "vitest";
import type { Notice } from "./candidate.ts";
import { Election } from "./election.ts";
import type { LockSpec } from "./lock.ts";
import type { Work } from "./options.ts";
import { aborted } from "./testing/replicas.ts";
import { SharedStatus } from "./worker/shared-status.ts";
import type { WorkerSetup } from "./worker/worker-candidate.ts";

const { threads, ended, FakeWorker } = await vi.hoisted(async () => {
  const { EventEmitter } = await import("node:events");
  const threads: FakeWorker[] = [];
  class FakeWorker extends EventEmitter {
    readonly url: URL;
    readonly setup: unknown;
    readonly posted: unknown[] = [];
    isTerminated = false;
    constructor(url: URL, options: { workerData: unknown }) {
      super();
      this.url = url;
      this.setup = options.workerData;
      threads.push(this);
    }
    postMessage(message: unknown): void {
      this.posted.push(message);
    }
    async terminate(): Promise<number> {
      this.isTerminated = true;
      return 0;
    }
  }
  return { threads, ended: [] as string[], FakeWorker };
});
vi.mock("node:worker_threads", () => ({ Worker: FakeWorker }));
vi.mock("./platform.ts", async (original) => ({
  ...(await original<typeof import("./platform.ts")>()),
  endProcess: (message: string) => void ended.push(message),
}));

beforeEach(() => {
  threads.length = 0;
  ended.length = 0;
});

const lease: LockSpec = { kind: "lease", options: { name: "x" } };

async function newWorkerElection(work: Work, onOverrun: "exit" | "report" = "exit") {
  const clock = new VirtualClock();
  const lock = Object.assign(new MemoryServer(clock).link(), { spec: lease });
  const election = new Election({ lock, identity: "a", clock, worker: true, onOverrun });
  const events: string[] = [];
  election.on("term-ended", ({ reason, released }) => {
    events.push(`ended ${reason}${released ? " released" : ""}`);
  });
  election.on("leader-changed", ({ leader }) => events.push(`leader ${leader}`));
  election.on("overrun", () => events.push("overrun"));
  const shutdown = new AbortController();
  const run = async () => {
    const before = threads.length;
    const done = election.run(work, shutdown);
    done.catch(() => {});
    await expect.poll(() => threads.length).toBe(before + 1);
    await clock.pass(0);
    const thread = threads.at(-1) as InstanceType<typeof FakeWorker>;
    const status = new SharedStatus((thread.setup as WorkerSetup).status);
    const notify = (notice: Notice) => void thread.emit("message", notice);
    /** The thread wins the lock, and its work may run for `forMs`. */
    const lead = async (forMs = 14_750) => {
      const { monoMs, wallMs } = clock.now();
      status.publish({ monoMs: monoMs + forMs, wallMs: wallMs + forMs }, monoMs);
      notify({ type: "term-started", token: 7n });
      notify({ type: "leader-changed", leader: "a" });
      await clock.pass(0);
    };
    return { done, thread, status, notify, lead };
  };
  return { clock, election, events, run, stop: () => shutdown.abort() };
}

const untilAborted: Work = ({ signal }) => aborted(signal);

describe("an election in a worker thread", () => {
  it("starts the thread with its setup, and sends the start command", async () => {
    const { run } = await newWorkerElection(untilAborted);
    const { thread } = await run();
    expect(thread.url.href).toMatch(/worker\/thread\.js$/);
    expect(thread.setup).toMatchObject({ config: { identity: "a" }, lock: lease, endOnOverrun: true });
    expect(thread.posted).toEqual([{ type: "start" }]);
  });

  it("passes notices to the work and the listeners, and the end of the work to the thread", async () => {
    const { clock, election, events, run, stop } = await newWorkerElection(untilAborted);
    const { done, thread, status, notify, lead } = await run();
    await lead();
    expect([election.leader, thread.isTerminated]).toEqual(["a", false]);
    expect([election.term?.token, election.term?.isValid()]).toEqual(["00000000000000000007", true]);
    stop();
    notify({ type: "term-ending", reason: "shutdown" });
    await clock.pass(0);
    expect(thread.posted).toEqual([
      { type: "start" },
      { type: "stop" },
      { type: "work-stopped", cooldownMs: 2_000 },
    ]);
    status.publish(undefined, 0);
    notify({ type: "term-ended", reason: "shutdown", released: true });
    notify({ type: "stopped" });
    await done;
    expect(thread.isTerminated).toBe(true);
    expect(events).toEqual(["leader a", "ended shutdown released"]);
  });

  it("takes the validity of its term from shared memory, even if no message arrives", async () => {
    const { clock, election, run } = await newWorkerElection(untilAborted);
    const { status, lead } = await run();
    await lead();
    clock.freeze(14_000);
    status.publish(
      { monoMs: clock.now().monoMs + 14_750, wallMs: clock.now().wallMs + 14_750 },
      clock.now().monoMs,
    );
    clock.freeze(14_000);
    expect(election.term?.isValid()).toBe(true);
    expect(election.health()).toEqual({ healthy: true, message: "leading" });
    status.publish(undefined, clock.now().monoMs);
    expect(election.term?.isValid()).toBe(false);
  });

  it("has a new thread for every run", async () => {
    const { run, election } = await newWorkerElection(untilAborted);
    const first = await run();
    first.notify({ type: "stopped" });
    await first.done;
    expect([first.thread.isTerminated, election.leader]).toEqual([true, undefined]);
    const second = await run();
    expect(second.thread).not.toBe(first.thread);
    second.notify({ type: "refused", reason: "denied", message: "may not get leases" });
    await expect(second.done).rejects.toMatchObject({ code: "Denied" });
    expect(second.thread.isTerminated).toBe(true);
    expect((await run()).thread).not.toBe(second.thread);
  });

  it("ignores what its thread has sent before it learned of the end of the run", async () => {
    const { run, election, events } = await newWorkerElection(untilAborted);
    const { done, notify } = await run();
    notify({ type: "refused", reason: "denied", message: "may not get leases" });
    await expect(done).rejects.toMatchObject({ code: "Denied" });
    expect(() => notify({ type: "term-started", token: 7n })).not.toThrow();
    expect(() => notify({ type: "stopped" })).not.toThrow();
    expect([election.term, events]).toEqual([undefined, []]);
  });

  it("is unhealthy if its thread has no contact with the lock for a long time", async () => {
    const { clock, election, run } = await newWorkerElection(untilAborted);
    const { status } = await run();
    status.publish(undefined, clock.now().monoMs);
    clock.freeze(29_000);
    expect(election.health()).toEqual({ healthy: true, message: "waiting" });
    status.publish(undefined, clock.now().monoMs);
    clock.freeze(29_000);
    expect(election.health()).toMatchObject({ healthy: true });
    clock.freeze(2_000);
    expect(election.health()).toMatchObject({ healthy: false });
  });

  it("has no thread unless worker is set", async () => {
    const clock = new VirtualClock();
    const lock = Object.assign(new MemoryServer(clock).link(), { spec: lease });
    const election = new Election({ lock, identity: "a", clock });
    void election.run(untilAborted);
    await clock.pass(10);
    expect([election.leader, threads.length]).toEqual(["a", 0]);
  });

  it("has no thread if the run is stopped before it starts", async () => {
    const { election } = await newWorkerElection(untilAborted);
    const shutdown = new AbortController();
    const done = election.run(untilAborted, shutdown);
    shutdown.abort();
    await done;
    expect(threads.filter(({ isTerminated }) => !isTerminated)).toEqual([]);
  });

  it("has no thread if the run is stopped while the code for threads is being loaded", async () => {
    const { election, run } = await newWorkerElection(untilAborted);
    const shutdown = new AbortController();
    const done = election.run(untilAborted, shutdown);
    for (let turn = 0; turn < 2; turn++) await undefined;
    shutdown.abort();
    await done;
    await vi.dynamicImportSettled();
    expect(threads).toEqual([]);
    expect((await run()).thread.posted).toEqual([{ type: "start" }]);
  });

  it("tells the thread whether to end the process", async () => {
    const { run } = await newWorkerElection(untilAborted, "report");
    expect((await run()).thread.setup).toMatchObject({ endOnOverrun: false });
  });
});

describe("tasks of an election in a worker thread", () => {
  it("are waited for before the thread is told that the work has stopped", async () => {
    const { clock, election, run } = await newWorkerElection(untilAborted);
    const { thread, notify, lead } = await run();
    await lead();
    let finish = () => {};
    const result = election.runIfLeader(() => new Promise<void>((resolve) => (finish = resolve)));
    notify({ type: "term-ending", reason: "step-down" });
    await clock.pass(0);
    expect(thread.posted).toEqual([{ type: "start" }]);
    expect([election.isLeader(), await election.runIfLeader(() => {})]).toMatchObject([
      false,
      { reason: "ending" },
    ]);
    finish();
    await result;
    await clock.pass(0);
    expect(thread.posted.slice(1)).toEqual([{ type: "work-stopped", cooldownMs: 2_000 }]);
  });

  it("let the thread drain after the work of run has returned", async () => {
    const { clock, election, run } = await newWorkerElection(() => {});
    const { thread, lead } = await run();
    let finish = () => {};
    election.once("term-started", ({ term }) => {
      void term.run(() => new Promise<void>((resolve) => (finish = resolve)));
    });
    await lead();
    await clock.pass(0);
    expect(thread.posted.slice(1)).toEqual([{ type: "step-down", cooldownMs: 2_000, reason: "work-ended" }]);
    finish();
    await clock.pass(0);
    expect(thread.posted.slice(2)).toEqual([{ type: "work-stopped", cooldownMs: 2_000 }]);
  });

  it("do not start after the thread has lost the term, though no message has arrived", async () => {
    const { clock, election, run } = await newWorkerElection(untilAborted);
    const { status, lead } = await run();
    await lead();
    expect(election.isLeader()).toBe(true);
    status.publish(undefined, clock.now().monoMs);
    expect(await election.runIfLeader(() => expect.unreachable())).toMatchObject({ reason: "not-leading" });
  });

  it("are waited for if the thread dies, and end with the process at the hard deadline", async () => {
    const { clock, election, run } = await newWorkerElection(untilAborted);
    const { done, thread, lead } = await run();
    await lead(14_750);
    let isDone = false;
    done.catch(() => (isDone = true));
    void election.runIfLeader(() => new Promise(() => {}));
    thread.emit("error", new Error("out of memory"));
    await clock.pass(14_749);
    expect([isDone, ended]).toEqual([false, []]);
    await clock.pass(1);
    expect(ended).toHaveLength(1);
  });
});

describe("a thread that dies", () => {
  const cause = new Error("out of memory");

  it("before it leads: the run rejects", async () => {
    const { run } = await newWorkerElection(untilAborted);
    const { done, thread } = await run();
    thread.emit("error", cause);
    await expect(done).rejects.toMatchObject({
      code: "WorkerFailed",
      message: "The thread of the election died: out of memory",
      cause,
    });
  });

  it("while it leads: the work stops, then the run rejects, and another run is possible", async () => {
    let finish = () => {};
    const { clock, election, events, run } = await newWorkerElection(
      () => new Promise<void>((resolve) => (finish = resolve)),
    );
    const { done, thread, lead } = await run();
    let isDone = false;
    done.catch(() => (isDone = true));
    await lead();
    const { term } = election;
    thread.emit("error", cause);
    await clock.pass(1_000);
    expect(term?.signal.reason).toMatchObject({ code: "TermEnded", reason: "renew-deadline" });
    expect([isDone, term?.isValid(), election.term === term]).toEqual([false, true, true]);
    finish();
    await expect(done).rejects.toMatchObject({ code: "WorkerFailed" });
    expect(events).toEqual(["leader a", "ended renew-deadline"]);
    expect([election.term, term?.isValid(), clock.armed]).toEqual([undefined, false, 0]);
    await run();
    expect(ended).toEqual([]);
  });

  it("while it leads, and the work does not stop: the process ends at the hard deadline", async () => {
    const { clock, events, run } = await newWorkerElection(() => new Promise(() => {}));
    const { thread, lead } = await run();
    await lead(14_750);
    thread.emit("error", cause);
    await clock.pass(14_749);
    expect(ended).toEqual([]);
    await clock.pass(1);
    expect(events).toContain("overrun");
    expect(ended).toEqual([expect.stringContaining("has not stopped by the hard deadline")]);
  });

  it("after the work stopped: the run rejects at once", async () => {
    const { clock, run } = await newWorkerElection(() => {});
    const { done, thread, lead } = await run();
    await lead();
    await clock.pass(0);
    thread.emit("error", cause);
    await expect(done).rejects.toMatchObject({ code: "WorkerFailed" });
    expect(clock.armed).toBe(0);
  });
});
