import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { type LockView, resolveTimings } from "@tenure/core";
import { recordOf } from "@tenure/testkit";
import { describe, expect, it } from "vitest";
import { config, newLeader, newRig } from "./testing/candidates.ts";

describe("effects", () => {
  it("reads, creates the lock, and notifies the owner in order", async () => {
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

  it("renews at the renew interval with only one timer besides the clock check", async () => {
    const { clock, server } = await newLeader();
    await clock.pass(30_000);
    expect(server.log).toEqual(["won by a", ...Array(10).fill("renewed by a")]);
    expect(clock.armed).toBe(2);
  });

  it("leaves no timer and no watch after it stops", async () => {
    const { clock, server, candidate, newNotices } = await newLeader();
    candidate.send({ type: "stop" });
    candidate.send({ type: "work-stopped", cooldownMs: 0 });
    await clock.pass(5);
    expect(newNotices().slice(-4)).toEqual(["term-ending", "term-ended", "leader-changed", "stopped"]);
    expect(server.log.at(-1)).toBe("released");
    expect([clock.armed, server.watchers]).toEqual([0, 0]);
  });

  it("can start again after it stops", async () => {
    const { clock, candidate, server, newNotices } = await newLeader();
    candidate.send({ type: "stop" });
    candidate.send({ type: "work-stopped", cooldownMs: 0 });
    await clock.pass(5);
    newNotices();
    candidate.send({ type: "start" });
    await clock.pass(5);
    expect(newNotices()).toContain("term-started");
    expect(server.watchers).toBe(1);
  });

  it("calls onStep before the notices of each step", async () => {
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

describe("commands sent while handling a notice", () => {
  it("wait until the step has sent its notices", async () => {
    const phases: string[] = [];
    const rig = newRig({}, ({ type }, self) => {
      if (type !== "term-started") return;
      self.send({ type: "step-down", cooldownMs: 500 });
      phases.push(self.state.phase.name);
    });
    rig.candidate.send({ type: "start" });
    await rig.clock.pass(5);
    expect(rig.newNotices()).toEqual(["term-started", "leader-changed", "term-ending"]);
    expect([...phases, rig.candidate.state.phase.name]).toEqual(["leading", "draining"]);
  });

  it("are performed in the order they were sent", async () => {
    const { clock, candidate, server, newNotices } = newRig({}, ({ type }, self) => {
      if (type !== "term-started") return;
      self.send({ type: "stop" });
      self.send({ type: "work-stopped", cooldownMs: 0 });
    });
    candidate.send({ type: "start" });
    await clock.pass(10);
    expect(newNotices()).toEqual([
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
  it("abort on timeout, and a late answer has no effect", async () => {
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

  it("carry the time limit of core, which can be longer than an HTTP client's default", async () => {
    const timings = resolveTimings({ preset: "low-load" });
    const { clock, lock } = await newLeader({ config: { ...config, timings } });
    await clock.pass(timings.renewIntervalMs);
    expect(lock.requests.map(({ kind, timeoutMs }) => [kind, timeoutMs])).toEqual([
      ["read", 11_250],
      ["write", 11_250],
      ["write", 11_250],
    ]);
  });

  it("use a late answer that shows the lock", async () => {
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

  it("recognise a committed write whose answer was lost when the lock is seen again", async () => {
    const { clock, lock, server, candidate, newNotices } = newRig();
    lock.fault = ({ kind }) => (kind === "write" ? "lose-answer" : undefined);
    candidate.send({ type: "start" });
    await clock.pass(10);
    expect(server.log).toEqual(["won by a"]);
    expect(candidate.state.phase.name).toBe("campaigning");
    lock.fault = undefined;
    await clock.pass(2_900);
    expect(newNotices()).toEqual(["failed", "term-started", "leader-changed", "renewed"]);
    expect(server.holder).toBe("a");
  });

  it.each(["reject", "throw"] as const)("are retried if the lock %ss", async (fault) => {
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

  it("that throw make a leader lose its term at the renew deadline, not earlier", async () => {
    const { clock, lock, newNotices } = await newLeader();
    newNotices();
    lock.fault = () => "throw";
    await clock.pass(config.timings.renewDeadlineMs - 10);
    expect(newNotices()).not.toContain("term-lost");
    await clock.pass(10);
    expect(newNotices()).toContain("term-lost");
    await clock.pass(config.timings.hardDeadlineMs - config.timings.renewDeadlineMs);
    expect(newNotices()).toContain("overrun");
  });
});

describe("an owner that throws", () => {
  it("does not stop the candidate from renewing or from noticing a loss", async () => {
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

describe("clock jumps", () => {
  it("are noticed within one clock check, long before any timer fires", async () => {
    const { clock, newNotices } = await newLeader();
    await clock.pass(100);
    newNotices();
    clock.suspend(20_000);
    await clock.pass(40);
    expect(newNotices()).toEqual(["term-lost", "term-expired", "overrun", "leader-changed"]);
  });

  it("cause a step only if there is one", async () => {
    let steps = 0;
    const { clock } = await newLeader({ onStep: () => steps++ });
    steps = 0;
    await clock.pass(2_500);
    expect(steps).toBe(0);
  });

  it("are checked for while the work may run: also while it drains and after a loss, but not after it stopped", async () => {
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
  it("that fires slightly early is armed again", async () => {
    const { clock, server, newNotices } = await newLeader();
    newNotices();
    const { at } = clock;
    const armed = new Set<number>();
    clock.at = (monoMs, callback) => {
      const earlyMs = armed.has(monoMs) ? 0 : 0.5;
      armed.add(monoMs);
      return at.call(clock, monoMs - earlyMs, callback);
    };
    await clock.pass(10_000);
    expect(server.log.length).toBeGreaterThanOrEqual(4);
    expect(newNotices()).not.toContain("term-lost");
  });
});

describe("many terms", () => {
  it("leave no timer, watch or request", async () => {
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

it("uses one signal until it aborts, and keeps no reference to a request that was aborted", async () => {
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
  const kept = new Set(signals.map((signal) => signal.deref()).filter((signal) => signal !== undefined));
  expect(kept.size).toBe(1);
  expect([...kept].map(({ aborted }) => aborted)).toEqual([false]);
});

describe("queries", () => {
  it("leader() respects the expiry of the lease", async () => {
    const { clock, lock, server, candidate } = newRig();
    server.put(recordOf("b"));
    candidate.send({ type: "start" });
    await clock.pass(5);
    expect(candidate.leader()).toBe("b");
    expect(candidate.lastContactMs()).toBe(5_001);
    lock.cut();
    clock.freeze(15_000);
    expect(candidate.leader()).toBeUndefined();
  });

  it("validUntil() is undefined after the end of a term", async () => {
    const { candidate, clock } = await newLeader();
    expect(candidate.validUntil()?.monoMs).toBe(5_001 + config.timings.hardDeadlineMs);
    candidate.send({ type: "work-stopped", cooldownMs: 0 });
    expect(candidate.validUntil()).toBeUndefined();
    await clock.pass(5);
  });
});
