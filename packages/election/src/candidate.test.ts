import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import type { LockView } from "@tenure/core";
import { recordOf } from "@tenure/testkit";
import { describe, expect, it } from "vitest";
import { config, newLeader, newRig } from "./testing/rig.ts";

describe("effects", () => {
  it("a candidate reads, creates the lock, and tells its owner in order", async () => {
    const { clock, lock, server, candidate, notices } = newRig();
    candidate.send({ type: "start" });
    await clock.pass(5);
    expect(lock.requests.map(({ kind }) => kind)).toEqual(["read", "write"]);
    expect(server.log).toEqual(["won by a"]);
    expect(notices).toEqual([
      { type: "answered", during: "read", tookMs: 1 },
      { type: "answered", during: "acquire", tookMs: 1 },
      { type: "term-started", token: 1n },
      { type: "leader-changed", leader: "a" },
    ]);
  });

  it("renews at the interval of the timings, and only one timer beside the check of the clocks is armed", async () => {
    const { clock, server } = await newLeader();
    await clock.pass(30_000);
    expect(server.log).toEqual(["won by a", ...Array(10).fill("renewed by a")]);
    expect(clock.armed).toBe(2);
  });

  it("leaves nothing behind when it has stopped: no timer, no watch", async () => {
    const { clock, server, candidate, heard } = await newLeader();
    candidate.send({ type: "stop" });
    candidate.send({ type: "work-stopped", cooldownMs: 0 });
    await clock.pass(5);
    expect(heard().slice(-4)).toEqual(["term-ending", "term-ended", "leader-changed", "stopped"]);
    expect(server.log.at(-1)).toBe("released");
    expect([clock.armed, server.watchers]).toEqual([0, 0]);
  });

  it("runs again after it has stopped", async () => {
    const { clock, candidate, server, heard } = await newLeader();
    candidate.send({ type: "stop" });
    candidate.send({ type: "work-stopped", cooldownMs: 0 });
    await clock.pass(5);
    heard();
    candidate.send({ type: "start" });
    await clock.pass(5);
    expect(heard()).toContain("term-started");
    expect(server.watchers).toBe(1);
  });

  it("tells after every step until when the work may run, before it tells anything else", async () => {
    const order: string[] = [];
    const rig = newRig(
      { onStep: () => order.push(`step ${rig.candidate.validUntil() !== undefined}`) },
      ({ type }) => order.push(type),
    );
    rig.candidate.send({ type: "start" });
    await rig.clock.pass(5);
    expect(order.slice(order.indexOf("term-started") - 1)).toEqual([
      "step true",
      "term-started",
      "leader-changed",
      "step true",
    ]);
  });
});

describe("commands from inside a notice", () => {
  it("wait for the end of the step: what the step tells comes first, and the state is not changed under it", async () => {
    const phases: string[] = [];
    const rig = newRig({}, ({ type }, self) => {
      if (type !== "term-started") return;
      self.send({ type: "step-down", cooldownMs: 500 });
      phases.push(self.state.phase.name);
    });
    rig.candidate.send({ type: "start" });
    await rig.clock.pass(5);
    expect(rig.heard()).toEqual(["term-started", "leader-changed", "term-ending"]);
    expect([...phases, rig.candidate.state.phase.name]).toEqual(["leading", "draining"]);
  });

  it("several of them are performed in the order in which they were sent", async () => {
    const { clock, candidate, server, heard } = newRig({}, ({ type }, self) => {
      if (type !== "term-started") return;
      self.send({ type: "stop" });
      self.send({ type: "work-stopped", cooldownMs: 0 });
    });
    candidate.send({ type: "start" });
    await clock.pass(10);
    expect(heard()).toEqual([
      "term-started",
      "leader-changed",
      "term-ending",
      "term-ended",
      "leader-changed",
      "stopped",
    ]);
    expect(server.log).toEqual(["won by a", "released"]);
  });
});

describe("requests", () => {
  it("one that nobody waits for any more is aborted, and its late answer does no harm", async () => {
    const { clock, lock, server, candidate } = newRig();
    lock.fault = (request) => (lock.requests.indexOf(request) === 0 ? "hold" : undefined);
    candidate.send({ type: "start" });
    await clock.pass(config.timings.attemptTimeoutMs - 1);
    expect(lock.requests[0]?.signal.aborted).toBe(false);
    await clock.pass(1);
    expect(lock.requests[0]?.signal.aborted).toBe(true);
    await clock.pass(100);
    expect(candidate.state.phase.name).toBe("leading");
    const before = candidate.state;
    lock.answerHeld();
    await clock.pass(0);
    expect(candidate.state.phase).toEqual(before.phase);
    expect(lock.requests).toHaveLength(3);
    expect(server.log).toEqual(["won by a"]);
  });

  it("a late sight of the lock is news", async () => {
    const { clock, lock, server, candidate } = newRig();
    server.put(recordOf("b"));
    lock.fault = () => "hold";
    candidate.send({ type: "start" });
    await clock.pass(config.timings.attemptTimeoutMs + 10);
    expect(candidate.leader()).toBeUndefined();
    lock.answerHeld();
    await clock.pass(0);
    expect(candidate.leader()).toBe("b");
  });

  it("a write whose answer got lost after it was committed is recognised by the next sight of it", async () => {
    const { clock, lock, server, candidate, heard } = newRig();
    lock.fault = ({ kind }) => (kind === "write" ? "lose-answer" : undefined);
    candidate.send({ type: "start" });
    await clock.pass(10);
    expect(server.log).toEqual(["won by a"]);
    expect(candidate.state.phase.name).toBe("campaigning");
    lock.fault = undefined;
    await clock.pass(2_900);
    expect(heard()).toEqual(["failed", "term-started", "leader-changed"]);
    expect(server.holder).toBe("a");
  });

  it.each(["reject", "throw"] as const)("a lock that %ss does not stop it", async (fault) => {
    const { clock, lock, candidate, notices, server } = newRig();
    lock.fault = () => fault;
    candidate.send({ type: "start" });
    await clock.pass(1_000);
    expect(notices).toContainEqual({
      type: "failed",
      during: "read",
      failure: { kind: "server", message: `this lock ${fault}s` },
    });
    expect(lock.requests.length).toBeGreaterThan(2);
    lock.fault = undefined;
    await clock.pass(2_000);
    expect(server.log).toEqual(["won by a"]);
  });

  it("a leader whose lock throws loses its term in time, and not before", async () => {
    const { clock, lock, heard } = await newLeader();
    heard();
    lock.fault = () => "throw";
    await clock.pass(config.timings.renewDeadlineMs - 10);
    expect(heard()).not.toContain("term-lost");
    await clock.pass(10);
    expect(heard()).toContain("term-lost");
    await clock.pass(config.timings.hardDeadlineMs - config.timings.renewDeadlineMs);
    expect(heard()).toContain("overrun");
  });
});

describe("an owner that throws", () => {
  it("does not keep the candidate from renewing, nor from noticing that it lost", async () => {
    const { clock, lock, server, candidate } = await newLeader({}, ({ type }) => {
      if (type === "failed") throw new Error("the owner has a defect");
    });
    const passInSpite = async (ms: number) => {
      const endMs = clock.now().monoMs + ms;
      while (clock.now().monoMs < endMs) await clock.pass(endMs - clock.now().monoMs).catch(() => {});
    };
    lock.cut();
    await passInSpite(8_000);
    lock.cut(false);
    await passInSpite(3_000);
    expect(server.log.slice(0, 2)).toEqual(["won by a", "renewed by a"]);
    lock.cut();
    await passInSpite(config.timings.renewDeadlineMs);
    expect(candidate.state.phase.name).toBe("lost");
  });
});

describe("the guard against suspension", () => {
  it("a jump of the wall clock is noticed within the check of the clocks, long before any timer", async () => {
    const { clock, heard } = await newLeader();
    await clock.pass(100);
    heard();
    clock.suspend(20_000);
    await clock.pass(40);
    expect(heard()).toEqual(["term-lost", "term-expired", "overrun", "leader-changed"]);
  });

  it("a clock that goes as it should is not worth a step", async () => {
    let steps = 0;
    const { clock } = await newLeader({ onStep: () => steps++ });
    steps = 0;
    await clock.pass(2_500);
    expect(steps).toBe(0);
  });

  it("watches for as long as the work may run: also while it drains and after a loss, not when it has stopped", async () => {
    const { clock, lock, candidate } = await newLeader();
    candidate.send({ type: "step-down", cooldownMs: 60_000 });
    expect(clock.dueInMs[0]).toBeLessThanOrEqual(40);
    lock.cut();
    await clock.pass(12_000);
    expect(candidate.state.phase.name).toBe("lost");
    expect(clock.dueInMs[0]).toBeLessThanOrEqual(40);
    lock.cut(false);
    candidate.send({ type: "work-stopped", cooldownMs: 0 });
    expect(candidate.state.phase.name).toBe("campaigning");
    expect(clock.armed).toBeLessThanOrEqual(2);
    await clock.pass(0);
    candidate.send({ type: "stop" });
    await clock.pass(5);
    expect(clock.armed).toBe(0);
  });
});

describe("a timer", () => {
  it("that fires a little early is armed again: nothing else would wake the candidate", async () => {
    const { clock, server, heard } = await newLeader();
    heard();
    const { at } = clock;
    let isEarly = true;
    clock.at = (monoMs, callback) => {
      const earlyMs = isEarly && monoMs - clock.now().monoMs > 100 ? 0.5 : 0;
      if (earlyMs > 0) isEarly = false;
      return at.call(clock, monoMs - earlyMs, callback);
    };
    await clock.pass(10_000);
    expect(isEarly).toBe(false);
    expect(server.log.length).toBeGreaterThanOrEqual(4);
    expect(heard()).not.toContain("term-lost");
  });
});

describe("many terms", () => {
  it("leave no timer, watch or request behind", async () => {
    const { clock, lock, server, candidate } = newRig({}, ({ type }, self) => {
      if (type === "term-started") self.send({ type: "work-stopped", cooldownMs: 0 });
    });
    candidate.send({ type: "start" });
    await clock.until(() => server.log.filter((line) => line === "released").length >= 500);
    candidate.send({ type: "stop" });
    await clock.pass(10);
    expect([clock.armed, server.watchers]).toEqual([0, 0]);
    expect(candidate.state.ownWrites.length).toBeLessThanOrEqual(16);
    expect(lock.requests.every(({ signal }) => !signal.aborted)).toBe(true);
  });
});

it("keeps nothing of a request that was answered or given up", async () => {
  const { candidate, clock, lock, server } = newRig();
  server.put(recordOf("b", { leaseDurationSeconds: 3_600 }));
  const signals: WeakRef<AbortSignal>[] = [];
  let isFirst = true;
  lock.watch = () => {};
  lock.read = async (signal) => {
    signals.push(new WeakRef(signal));
    if (isFirst) return new Promise(() => {});
    return { kind: "found", view: server.view as LockView };
  };
  candidate.send({ type: "start" });
  await clock.pass(3_000);
  isFirst = false;
  await clock.pass(60_000);
  expect(signals.length).toBeGreaterThan(20);
  setFlagsFromString("--expose-gc");
  runInNewContext("gc")();
  await clock.pass(0);
  runInNewContext("gc")();
  // The last one may still be on the stack.
  expect(signals.filter((signal) => signal.deref()).length).toBeLessThanOrEqual(1);
});

describe("questions", () => {
  it("who leads is asked of the clock", async () => {
    const { clock, lock, server, candidate } = newRig();
    server.put(recordOf("b"));
    candidate.send({ type: "start" });
    await clock.pass(5);
    expect(candidate.leader()).toBe("b");
    expect(candidate.heardAtMs()).toBe(5_001);
    lock.cut();
    clock.freeze(15_000);
    expect(candidate.leader()).toBeUndefined();
  });

  it("after the end of a term nobody may work", async () => {
    const { candidate, clock } = await newLeader();
    expect(candidate.validUntil()?.monoMs).toBe(5_001 + config.timings.hardDeadlineMs);
    candidate.send({ type: "work-stopped", cooldownMs: 0 });
    expect(candidate.validUntil()).toBeUndefined();
    await clock.pass(5);
  });
});
