/** Ends a run at every possible moment. */
import { getEventListeners } from "node:events";
import { settle, VirtualClock } from "@tenure/base/virtual-clock";
import { MemoryServer, newReplica, recordOf, untilAborted } from "@tenure/testkit";
import { describe, expect, it } from "vitest";
import { newLeadingReplica } from "./testing/replicas.ts";

describe("stop", () => {
  it("before the run: makes no request, also in a second run", async () => {
    const replica = await newLeadingReplica();
    replica.stop();
    await replica.clock.pass(10);
    const before = replica.lock.requests.length;
    let isPrepared = false;
    replica.lock.prepare = async () => {
      isPrepared = true;
    };
    await replica.run(undefined, { signal: AbortSignal.abort() });
    expect([isPrepared, replica.lock.requests.length - before]).toEqual([false, 0]);
  });

  it("while the lock is being prepared: does not wait for it", async () => {
    const replica = newReplica();
    let prepared = () => {};
    replica.lock.prepare = () =>
      new Promise((resolve) => {
        prepared = resolve;
      });
    replica.run();
    await settle();
    replica.stop();
    await settle();
    expect(replica.isDone).toBe(true);
    prepared();
    await replica.clock.pass(1_000);
    expect(replica.lock.requests).toEqual([]);
  });

  it("while the lock is being prepared: a later failure of that has no effect", async () => {
    const replica = newReplica();
    let fail = (_error: Error) => {};
    replica.lock.prepare = () =>
      new Promise((_resolve, reject) => {
        fail = reject;
      });
    replica.run();
    await settle();
    replica.stop();
    await settle();
    fail(new Error("no token was mounted"));
    await settle();
    expect(replica.isDone).toBe(true);
  });

  /** The signal may abort wherever the run awaits a promise. */
  it.each([0, 1, 2, 3, 4, 5])("%i turns after the start: ends the run", async (turns) => {
    const replica = newReplica();
    replica.lock.prepare = () => Promise.resolve();
    replica.run();
    for (let turn = 0; turn < turns; turn++) await Promise.resolve();
    replica.stop();
    await replica.clock.pass(10);
    expect(replica.isDone).toBe(true);
    expect(replica.server.log).toEqual([]);
    expect([replica.clock.armed, replica.server.watchers]).toEqual([0, 0]);
  });

  it("while campaigning: ends at once, without another request", async () => {
    const replica = newReplica();
    replica.server.put(recordOf("b"));
    replica.run();
    await replica.clock.pass(100);
    replica.stop();
    await settle();
    expect(replica.isDone).toBe(true);
    expect(replica.lock.requests).toHaveLength(1);
    expect([replica.clock.armed, replica.server.watchers, replica.server.holder]).toEqual([0, 0, "b"]);
  });

  it("while reading: aborts the request", async () => {
    const replica = newReplica();
    replica.lock.cut();
    replica.run();
    await replica.clock.pass(100);
    replica.stop();
    await settle();
    expect(replica.isDone).toBe(true);
    expect(replica.lock.requests[0]?.signal.aborted).toBe(true);
  });

  it("while acquiring: releases the lock, starts no work, and reports no term", async () => {
    const replica = newReplica();
    replica.lock.latencyMs = 50;
    replica.run();
    await replica.clock.pass(60);
    expect(replica.lock.requests.map(({ kind }) => kind)).toEqual(["read", "write"]);
    replica.stop();
    await replica.clock.pass(150);
    expect(replica.isDone).toBe(true);
    expect(replica.server.log).toEqual(["won by a", "released"]);
    expect(replica.events).not.toContain("started");
    expect(replica.terms).toEqual([]);
  });

  it("while leading: stops the work, then releases the lock, then resolves", async () => {
    const server = new MemoryServer(new VirtualClock());
    const { clock, stop, done } = await newLeadingReplica({ server }, untilAborted(server, 300));
    done.then(() => server.log.push("resolved"));
    stop();
    await clock.pass(310);
    expect(server.log).toEqual(["won by a", "a works", "a stopped", "released", "resolved"]);
  });

  it("while draining after a step-down: releases once and does not campaign again", async () => {
    const server = new MemoryServer(new VirtualClock());
    const replica = await newLeadingReplica({ server }, untilAborted(server, 500));
    replica.election.stepDown({ cooldown: "0s" });
    await replica.clock.pass(100);
    replica.stop();
    await replica.clock.pass(410);
    expect(server.log).toEqual(["won by a", "a works", "a stopped", "released"]);
    expect(replica.events).toContain("ended step-down released");
    expect(replica.isDone).toBe(true);
  });

  it("while releasing: waits for the release", async () => {
    const replica = newReplica({ cooldown: "0s" });
    replica.run(() => {
      replica.lock.latencyMs = 50;
    });
    await replica.clock.pass(10);
    replica.stop();
    await replica.clock.pass(200);
    expect(replica.isDone).toBe(true);
    expect(replica.server.log).toEqual(["won by a", "released"]);
  });

  it("with an unreachable lock: stops trying to release at the hard deadline", async () => {
    const replica = await newLeadingReplica();
    replica.lock.cut();
    replica.stop();
    await replica.clock.pass(14_700);
    expect(replica.isDone).toBe(false);
    await replica.clock.pass(60);
    expect(replica.isDone).toBe(true);
    expect(replica.events).toContain("ended shutdown");
    expect(replica.clock.armed).toBe(0);
  });

  it("with a term that is lost while it drains: does not release the new holder's lock", async () => {
    const server = new MemoryServer(new VirtualClock());
    const replica = await newLeadingReplica({ server, onOverrun: "report" }, untilAborted(server, 500));
    replica.stop();
    await replica.clock.pass(100);
    server.put(recordOf("b"));
    await replica.clock.pass(500);
    expect(server.log).toEqual(["won by a", "a works", "won by b", "a stopped"]);
    expect([replica.isDone, server.holder]).toEqual([true, "b"]);
    expect(replica.term.signal.reason).toMatchObject({ reason: "shutdown" });
    expect(replica.events).toContain("ended taken-over");
  });
});

describe("election.stop()", () => {
  it("resolves when the run has ended", async () => {
    const server = new MemoryServer(new VirtualClock());
    const { clock, election } = await newLeadingReplica({ server }, untilAborted(server, 300));
    void election.stop().then(() => server.log.push("resolved"));
    await clock.pass(310);
    expect(server.log).toEqual(["won by a", "a works", "a stopped", "released", "resolved"]);
  });

  it("resolves at once if there is no run", async () => {
    await expect(newReplica().election.stop()).resolves.toBeUndefined();
  });
});

describe("run", () => {
  it("rejects a second run at the same time, which does not disturb the first", async () => {
    const replica = await newLeadingReplica();
    await expect(replica.election.run(() => {})).rejects.toMatchObject({
      code: "AlreadyRunning",
      message: "Cannot run the election: it is already running. Wait until the first run ends.",
    });
    await replica.clock.pass(20_000);
    expect(replica.term.isValid()).toBe(true);
  });

  it("can run again after a stop, with a higher token", async () => {
    const replica = await newLeadingReplica();
    replica.stop();
    await replica.clock.pass(10);
    await replica.done;
    replica.run();
    await replica.clock.pass(10);
    expect(replica.terms).toHaveLength(2);
    expect(BigInt(replica.terms[1]?.token ?? 0)).toBeGreaterThan(BigInt(replica.term.token));
  });

  it("still knows in a second run since when the holder has not renewed the lock", async () => {
    const replica = newReplica();
    replica.server.put(recordOf("dead"));
    replica.run();
    await replica.clock.pass(10_000);
    replica.stop();
    await replica.clock.pass(10);
    replica.run();
    await replica.clock.pass(5_500);
    expect(replica.server.holder).toBe("a");
  });

  it("can run again right after a run resolved, and after one that failed to prepare", async () => {
    const replica = newReplica();
    replica.lock.prepare = () => Promise.reject(new Error("no such kubeconfig"));
    await expect(replica.run()).rejects.toThrow("no such kubeconfig");
    replica.lock.prepare = () => Promise.resolve();
    replica.run(() => {}, { once: true });
    await replica.clock.pass(10);
    await replica.done;
    const again = replica.run();
    await replica.clock.pass(10);
    expect(replica.server.holder).toBe("a");
    replica.stop();
    await replica.clock.pass(10);
    await again;
  });

  it("leaves no listener on the signal", async () => {
    const { signal } = new AbortController();
    const replica = newReplica({ cooldown: "0s" });
    for (let run = 0; run < 20; run++) {
      replica.run(() => {}, { signal, once: true });
      await replica.clock.pass(10);
      expect(replica.isDone).toBe(true);
    }
    expect(getEventListeners(signal, "abort")).toEqual([]);
  });

  it("keeps one listener on the signal and no old timers over 10,000 terms", async () => {
    const { signal } = new AbortController();
    const replica = newReplica({ cooldown: "0s" });
    let terms = 0;
    replica.run(() => void terms++, { signal });
    await replica.clock.pass(20_000);
    while (terms < 10_000) await replica.clock.pass(10_000);
    expect(getEventListeners(signal, "abort").length).toBeLessThanOrEqual(2);
    expect([replica.clock.armed, replica.server.watchers]).toEqual([expect.any(Number), 1]);
    expect(replica.clock.armed).toBeLessThanOrEqual(4);
  }, 20_000);
});

describe("work that ignores its signal", () => {
  it("loses its term after stopTimeout, is unhealthy, and overruns at the hard deadline", async () => {
    const replica = await newLeadingReplica(
      { stopTimeout: "30s", onOverrun: "report" },
      () => new Promise(() => {}),
    );
    const { clock, election, term } = replica;
    election.stepDown();
    await clock.pass(29_900);
    expect([term.lost.aborted, term.isValid()]).toEqual([false, true]);
    expect(election.health()).toEqual({ healthy: true, message: "leading" });
    await clock.pass(100);
    expect(term.lost.reason).toMatchObject({ code: "TermEnded", reason: "stop-timeout" });
    expect(term.signal.reason).toMatchObject({ reason: "step-down" });
    expect(election.health()).toEqual({
      healthy: false,
      message: "the work was asked to stop 30 s ago and has not stopped",
    });
    await clock.pass(14_750);
    expect([term.expired.aborted, term.isValid()]).toEqual([true, false]);
    expect(replica.events).toContain("overrun");
    expect(election.health()).toMatchObject({ healthy: false });
  });

  it("has one minute by default, and no limit with stopTimeout: false", async () => {
    const usual = await newLeadingReplica({ onOverrun: "report" }, () => new Promise(() => {}));
    usual.election.stepDown();
    await usual.clock.pass(59_900);
    expect(usual.term.lost.aborted).toBe(false);
    await usual.clock.pass(100);
    expect(usual.term.lost.aborted).toBe(true);
    const unlimited = await newLeadingReplica({ stopTimeout: false }, () => new Promise(() => {}));
    unlimited.election.stepDown();
    await unlimited.clock.pass(3_600_000);
    expect([unlimited.term.lost.aborted, unlimited.election.health().healthy]).toEqual([false, true]);
  });
});
