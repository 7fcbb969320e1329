/** The main thread's side of worker mode, with a thread in the hands of the test. The real thread: see test/processes/election. */

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
    await vi.waitFor(() => expect(threads.length).toBe(before + 1));
    await clock.pass(0);
    const thread = threads.at(-1) as InstanceType<typeof FakeWorker>;
    const board = new SharedStatus((thread.setup as WorkerSetup).status);
    const tell = (notice: Notice) => void thread.emit("message", notice);
    /** The thread wins the lock, and may work for so long. */
    const lead = async (forMs = 14_750) => {
      const { monoMs, wallMs } = clock.now();
      board.publish({ monoMs: monoMs + forMs, wallMs: wallMs + forMs }, monoMs);
      tell({ type: "term-started", token: 7n });
      tell({ type: "leader-changed", leader: "a" });
      await clock.pass(0);
    };
    return { done, thread, board, tell, lead };
  };
  return { clock, election, events, run, stop: () => shutdown.abort() };
}

const untilAborted: Work = ({ signal }) => aborted(signal);

describe("an election in a thread of its own", () => {
  it("starts the thread with what it needs, and tells it to start", async () => {
    const { run } = await newWorkerElection(untilAborted);
    const { thread } = await run();
    expect(thread.url.href).toMatch(/worker\/thread\.js$/);
    expect(thread.setup).toMatchObject({ config: { identity: "a" }, lock: lease, endOnOverrun: true });
    expect(thread.posted).toEqual([{ type: "start" }]);
  });

  it("passes notices on to the work and the listeners, and the end of the work to the thread", async () => {
    const { clock, election, events, run, stop } = await newWorkerElection(untilAborted);
    const { done, thread, board, tell, lead } = await run();
    await lead();
    expect(election.leader).toBe("a");
    expect([election.term?.token, election.term?.isValid()]).toEqual([7n, true]);
    stop();
    tell({ type: "term-ending", reason: "shutdown" });
    await clock.pass(0);
    expect(thread.posted).toEqual([
      { type: "start" },
      { type: "stop" },
      { type: "work-stopped", cooldownMs: 2_000 },
    ]);
    board.publish(undefined, 0);
    tell({ type: "term-ended", reason: "shutdown", released: true });
    tell({ type: "stopped" });
    await done;
    expect(thread.isTerminated).toBe(true);
    expect(events).toEqual(["leader a", "ended shutdown released"]);
  });

  it("takes its right to work from the board, also while no message gets through", async () => {
    const { clock, election, run } = await newWorkerElection(untilAborted);
    const { board, lead } = await run();
    await lead();
    clock.freeze(14_000);
    board.publish(
      { monoMs: clock.now().monoMs + 14_750, wallMs: clock.now().wallMs + 14_750 },
      clock.now().monoMs,
    );
    clock.freeze(14_000);
    expect(election.term?.isValid()).toBe(true);
    expect(election.health()).toEqual({ healthy: true, message: "leading" });
    board.publish(undefined, clock.now().monoMs);
    expect(election.term?.isValid()).toBe(false);
  });

  it("has a new thread for every run", async () => {
    const { run, election } = await newWorkerElection(untilAborted);
    const first = await run();
    first.tell({ type: "stopped" });
    await first.done;
    expect([first.thread.isTerminated, election.leader]).toEqual([true, undefined]);
    const second = await run();
    expect(second.thread).not.toBe(first.thread);
    second.tell({ type: "refused", reason: "denied", message: "may not get leases" });
    await expect(second.done).rejects.toMatchObject({ code: "Denied" });
    expect(second.thread.isTerminated).toBe(true);
    expect((await run()).thread).not.toBe(second.thread);
  });

  it("is unhealthy when its thread has not heard of the lock for long", async () => {
    const { clock, election, run } = await newWorkerElection(untilAborted);
    const { board } = await run();
    board.publish(undefined, clock.now().monoMs);
    clock.freeze(29_000);
    expect(election.health()).toEqual({ healthy: true, message: "waiting" });
    board.publish(undefined, clock.now().monoMs);
    clock.freeze(29_000);
    expect(election.health()).toMatchObject({ healthy: true });
    clock.freeze(2_000);
    expect(election.health()).toMatchObject({ healthy: false });
  });

  it("is only made where it is asked for", async () => {
    const clock = new VirtualClock();
    const lock = Object.assign(new MemoryServer(clock).link(), { spec: lease });
    const election = new Election({ lock, identity: "a", clock });
    void election.run(untilAborted);
    await clock.pass(10);
    expect([election.leader, threads.length]).toEqual(["a", 0]);
  });

  it("is not started when it was stopped before that", async () => {
    const { election } = await newWorkerElection(untilAborted);
    const shutdown = new AbortController();
    const done = election.run(untilAborted, shutdown);
    shutdown.abort();
    await done;
    expect(threads.filter(({ isTerminated }) => !isTerminated)).toEqual([]);
  });

  it("tells the thread whether to end the process", async () => {
    const { run } = await newWorkerElection(untilAborted, "report");
    expect((await run()).thread.setup).toMatchObject({ endOnOverrun: false });
  });
});

describe("a thread that dies", () => {
  const cause = new Error("out of memory");

  it("before it led: the run rejects", async () => {
    const { run } = await newWorkerElection(untilAborted);
    const { done, thread } = await run();
    thread.emit("error", cause);
    await expect(done).rejects.toMatchObject({
      code: "WorkerFailed",
      message: "The thread of the election died: out of memory",
      cause,
    });
  });

  it("while it led: the work is stopped, then the run rejects, and another one can be made", async () => {
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

  it("while it led, and the work does not stop: the process ends at the hard deadline all the same", async () => {
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

  it("after the work had stopped: the run rejects at once", async () => {
    const { clock, run } = await newWorkerElection(() => {});
    const { done, thread, lead } = await run();
    await lead();
    await clock.pass(0);
    thread.emit("error", cause);
    await expect(done).rejects.toMatchObject({ code: "WorkerFailed" });
    expect(clock.armed).toBe(0);
  });
});
