/** `runIfLeader` and `term.run`: work that is started one by one, and the lease that waits for it. */
import { first, sleep } from "@tenure/base";
import { VirtualClock } from "@tenure/base/virtual-clock";
import type { Election, Task, Term } from "@tenure/election";
import { MemoryServer, newReplica, recordOf, untilAborted } from "@tenure/testkit";
import { describe, expect, it } from "vitest";
import { newLeadingReplica } from "./testing/replicas.ts";

/** A task that stops `ms` after its signal aborts, or never. It adds "a task" and "a task stopped" to the log. */
function taskUntilAborted({ clock, log }: MemoryServer, ms = 0): Task<string> {
  return async ({ identity, signal }) => {
    log.push(`${identity} task`);
    await first(clock, { aborted: signal });
    if (Number.isFinite(ms)) await sleep(clock, ms);
    else await new Promise(() => {});
    log.push(`${identity} task stopped`);
    return "done";
  };
}

/** What happened to the lock and to the work, without renewals. */
function logOf({ log }: MemoryServer): string[] {
  return log.filter((line) => !line.startsWith("renewed"));
}

function newServer(): MemoryServer {
  return new MemoryServer(new VirtualClock());
}

describe("runIfLeader", () => {
  it("runs the task and returns its value", async () => {
    const { election, term } = await newLeadingReplica();
    let seen: Term | undefined;
    const result = await election.runIfLeader((given) => {
      seen = given;
      return 42;
    });
    expect(result).toEqual({ ran: true, completed: true, value: 42 });
    expect(seen).toBe(term);
    expect(await term.run(async () => "x")).toEqual({ ran: true, completed: true, value: "x" });
  });

  it("starts the task before it returns: nothing can happen between the check and the start", async () => {
    const { election } = await newLeadingReplica();
    let isStarted = false;
    void election.runIfLeader(() => {
      isStarted = true;
    });
    expect(isStarted).toBe(true);
  });

  it("does not run the task of a candidate that does not lead, or does not run", async () => {
    const replica = newReplica();
    const run = () => replica.election.runIfLeader(() => expect.unreachable());
    const refused = { ran: false, completed: false, reason: "not-leading" };
    expect([await run(), replica.election.isLeader()]).toEqual([refused, false]);
    replica.server.put(recordOf("b"));
    replica.run();
    await replica.clock.pass(10);
    expect([await run(), replica.election.isLeader()]).toEqual([refused, false]);
  });

  it("rejects with the error of the task, and the term goes on", async () => {
    const { clock, election, term, events } = await newLeadingReplica();
    await expect(election.runIfLeader(() => Promise.reject(new Error("boom")))).rejects.toThrow("boom");
    const thrown = election.runIfLeader(() => {
      throw new Error("at once");
    });
    await expect(thrown).rejects.toThrow("at once");
    await clock.pass(1_000);
    expect([term.signal.aborted, election.isLeader()]).toEqual([false, true]);
    expect(events.filter((event) => event.startsWith("error"))).toEqual([]);
  });

  it("reports a task that threw because its term ended as not completed, with the reason", async () => {
    const { clock, election } = await newLeadingReplica();
    const result = election.runIfLeader(async ({ signal }) => {
      await first(clock, { aborted: signal });
      signal.throwIfAborted();
    });
    election.stepDown();
    await clock.pass(10);
    expect(await result).toEqual({ ran: true, completed: false, reason: "step-down" });
  });

  it("rejects a task that is not a function", async () => {
    const { election } = await newLeadingReplica();
    await expect(election.runIfLeader("x" as never)).rejects.toThrow(
      "task must be a function, but is string",
    );
  });
});

describe("the lease is released only after every task has stopped", () => {
  const endings: [
    string,
    (replica: { election: Election; server: MemoryServer; stop: () => void }) => unknown,
    string,
  ][] = [
    ["a step-down", ({ election }) => election.stepDown(), "step-down"],
    ["the signal of the run", ({ stop }) => stop(), "shutdown"],
    ["stop()", ({ election }) => void election.stop(), "shutdown"],
    ["the end of `await using`", ({ election }) => void election[Symbol.asyncDispose](), "shutdown"],
  ];
  it.each(endings)("after %s", async (_what, end, reason) => {
    const server = newServer();
    const replica = await newLeadingReplica({ server });
    const results = [
      replica.election.runIfLeader(taskUntilAborted(server, 20_000)),
      replica.term.run(taskUntilAborted(server, 5_000)),
    ];
    await server.clock.pass(1_000);
    end(replica);
    await server.clock.pass(19_900);
    expect([server.holder, replica.term.isValid(), replica.election.isLeader()]).toEqual(["a", true, false]);
    await server.clock.pass(200);
    expect(logOf(server)).toEqual([
      "won by a",
      "a works",
      "a task",
      "a task",
      "a stopped",
      "a task stopped",
      "a task stopped",
      "released",
    ]);
    for (const result of results) expect(await result).toMatchObject({ completed: true, value: "done" });
    expect(replica.events).toContain(`ended ${reason} released`);
  });

  it("after the work of run has returned: the tasks are told to stop, and the reason is that the work ended", async () => {
    const server = newServer();
    let finish = () => {};
    const replica = await newLeadingReplica(
      { server },
      () => new Promise<void>((resolve) => (finish = resolve)),
    );
    const result = replica.term.run(taskUntilAborted(server, 20_000));
    finish();
    await server.clock.pass(19_900);
    expect([server.holder, replica.term.signal.aborted]).toEqual(["a", true]);
    expect(await replica.term.run(() => expect.unreachable())).toMatchObject({
      ran: false,
      reason: "ending",
    });
    await server.clock.pass(200);
    expect(await result).toMatchObject({ completed: true });
    expect(logOf(server)).toEqual(["won by a", "a task", "a task stopped", "released"]);
    expect(replica.events).toContain("ended work-ended released");
  });

  it("of a run with `once`", async () => {
    const server = newServer();
    const replica = await newLeadingReplica({ server }, () => sleep(server.clock, 1_000), { once: true });
    void replica.term.run(taskUntilAborted(server, 3_000));
    await server.clock.pass(3_900);
    expect([replica.isDone, server.holder]).toEqual([false, "a"]);
    await server.clock.pass(200);
    expect([replica.isDone, server.log.at(-1)]).toEqual([true, "released"]);
    expect(replica.events).toContain("ended work-ended released");
  });

  it("even if it starts while the work of run has not started yet", async () => {
    const server = newServer();
    const replica = newReplica({ server });
    replica.election.once("term-started", ({ term }) => {
      void term.run(taskUntilAborted(server, 1_000));
      replica.stop();
    });
    replica.run();
    await server.clock.until(() => replica.isDone, 5_000);
    expect(logOf(server)).toEqual(["won by a", "a task", "a task stopped", "released"]);
  });

  it("and no task starts while the term is ending", async () => {
    const server = newServer();
    const replica = await newLeadingReplica({ server }, untilAborted(server, 5_000));
    replica.election.stepDown();
    await server.clock.pass(10);
    expect(replica.term.isValid()).toBe(true);
    expect(await replica.election.runIfLeader(() => expect.unreachable())).toEqual({
      ran: false,
      completed: false,
      reason: "ending",
    });
  });
});

describe("a task that ignores its signal", () => {
  it("loses its term after stopTimeout, and overruns at the hard deadline, as the work of run does", async () => {
    const server = newServer();
    const replica = await newLeadingReplica({ server, stopTimeout: "30s" });
    void replica.election.runIfLeader(taskUntilAborted(server, Number.POSITIVE_INFINITY));
    replica.election.stepDown();
    await server.clock.pass(29_900);
    expect([replica.term.lost.aborted, replica.election.health().healthy]).toEqual([false, true]);
    await server.clock.pass(200);
    expect([replica.term.lost.aborted, replica.election.health().healthy]).toEqual([true, false]);
    await server.clock.pass(15_000);
    expect(replica.events).toContain("overrun");
    expect([server.holder, replica.term.isValid()]).toEqual(["a", false]);
    expect(server.log).not.toContain("released");
  });

  it("after the work of run has returned, too", async () => {
    const server = newServer();
    let finish = () => {};
    const replica = await newLeadingReplica(
      { server, stopTimeout: "30s" },
      () => new Promise<void>((resolve) => (finish = resolve)),
    );
    void replica.election.runIfLeader(taskUntilAborted(server, Number.POSITIVE_INFINITY));
    finish();
    await server.clock.pass(30_100);
    expect([replica.term.lost.aborted, replica.election.health().healthy]).toEqual([true, false]);
    await server.clock.pass(15_000);
    expect(replica.events).toContain("overrun");
  });

  it("of a lost term overruns at the hard deadline, and the candidate does not campaign before it stops", async () => {
    const server = newServer();
    const replica = await newLeadingReplica({ server });
    void replica.election.runIfLeader(taskUntilAborted(server, 60_000));
    replica.lock.cut();
    await server.clock.pass(15_000);
    replica.lock.cut(false);
    expect(replica.events).toContain("overrun");
    await server.clock.pass(50_000);
    expect(replica.terms).toHaveLength(1);
    await server.clock.pass(20_000);
    expect(replica.terms).toHaveLength(2);
  });
});

it("a process that was frozen past its deadline starts no task, though no event has told it so", async () => {
  const { clock, election, term } = await newLeadingReplica();
  clock.freeze(14_000);
  expect(election.isLeader()).toBe(true);
  clock.freeze(1_000);
  expect([election.term === term, term.signal.aborted, election.isLeader()]).toEqual([true, false, false]);
  const result = await election.runIfLeader(() => expect.unreachable());
  expect(result).toEqual({ ran: false, completed: false, reason: "not-leading" });
});

it("jobs that take longer than a handover never overlap, whatever ends the terms", async () => {
  const server = newServer();
  const replicas = ["a", "b", "c"].map((identity) => newReplica({ identity, server, cooldown: "1s" }));
  let working = 0;
  let most = 0;
  const ran = new Set<string>();
  const job: Task<void> = async ({ identity }) => {
    working += 1;
    most = Math.max(most, working);
    ran.add(identity);
    await sleep(server.clock, 7_000);
    working -= 1;
  };
  for (const replica of replicas) void replica.election.run();
  for (let round = 0; round < 60; round++) {
    await server.clock.pass(round % 3 === 0 ? 500 : 9_000);
    for (const { election } of replicas)
      if (working === 0 || !election.isLeader()) void election.runIfLeader(job);
    const leader = replicas.find(({ election }) => election.isLeader());
    await server.clock.pass(100);
    leader?.election.stepDown();
  }
  expect([most, ran.size > 1]).toEqual([1, true]);
});
