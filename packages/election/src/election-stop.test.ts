/** The end of a run, at every moment at which it can come. */
import { getEventListeners } from "node:events";
import { settle, VirtualClock } from "@tenure/base/virtual-clock";
import { MemoryServer, recordOf } from "@tenure/testkit";
import { describe, expect, it } from "vitest";
import { newLeadingMember, newMember, untilAborted } from "./testing/elections.ts";

describe("stop", () => {
  it("before the run: nothing is asked of the lock, also in a second run", async () => {
    const member = await newLeadingMember();
    member.stop();
    await member.clock.pass(10);
    const before = member.lock.requests.length;
    let isPrepared = false;
    member.lock.prepare = async () => {
      isPrepared = true;
    };
    await member.run(undefined, { signal: AbortSignal.abort() });
    expect([isPrepared, member.lock.requests.length - before]).toEqual([false, 0]);
  });

  it("while the lock is being prepared: the run does not wait for that", async () => {
    const member = newMember();
    let prepared = () => {};
    member.lock.prepare = () =>
      new Promise((resolve) => {
        prepared = resolve;
      });
    member.run();
    await settle();
    member.stop();
    await settle();
    expect(member.isDone).toBe(true);
    prepared();
    await member.clock.pass(1_000);
    expect(member.lock.requests).toEqual([]);
  });

  it("a lock whose preparation fails after that does no harm", async () => {
    const member = newMember();
    let fail = (_error: Error) => {};
    member.lock.prepare = () =>
      new Promise((_resolve, reject) => {
        fail = reject;
      });
    member.run();
    await settle();
    member.stop();
    await settle();
    fail(new Error("no token was mounted"));
    await settle();
    expect(member.isDone).toBe(true);
  });

  /** Wherever the run waits for a promise, the signal may abort. */
  it.each([0, 1, 2, 3, 4, 5])("%i turns after the start: the run ends all the same", async (turns) => {
    const member = newMember();
    member.lock.prepare = () => Promise.resolve();
    member.run();
    for (let turn = 0; turn < turns; turn++) await Promise.resolve();
    member.stop();
    await member.clock.pass(10);
    expect(member.isDone).toBe(true);
    expect(member.server.log).toEqual([]);
    expect([member.clock.armed, member.server.watchers]).toEqual([0, 0]);
  });

  it("while campaigning: at once, without another request", async () => {
    const member = newMember();
    member.server.put(recordOf("b"));
    member.run();
    await member.clock.pass(100);
    member.stop();
    await settle();
    expect(member.isDone).toBe(true);
    expect(member.lock.requests).toHaveLength(1);
    expect([member.clock.armed, member.server.watchers, member.server.holder]).toEqual([0, 0, "b"]);
  });

  it("while reading: the request is given up", async () => {
    const member = newMember();
    member.lock.cut();
    member.run();
    await member.clock.pass(100);
    member.stop();
    await settle();
    expect(member.isDone).toBe(true);
    expect(member.lock.requests[0]?.signal.aborted).toBe(true);
  });

  it("while acquiring: what was won is given back, no work begins, and no term is told of", async () => {
    const member = newMember();
    member.lock.latencyMs = 50;
    member.run();
    await member.clock.pass(60);
    expect(member.lock.requests.map(({ kind }) => kind)).toEqual(["read", "write"]);
    member.stop();
    await member.clock.pass(150);
    expect(member.isDone).toBe(true);
    expect(member.server.log).toEqual(["won by a", "released"]);
    expect(member.events).not.toContain("started");
    expect(member.terms).toEqual([]);
  });

  it("while leading: the work stops, then the lock is released, then the run resolves", async () => {
    const server = new MemoryServer(new VirtualClock());
    const { clock, stop, done } = await newLeadingMember({ server }, untilAborted(server, 300));
    done.then(() => server.log.push("resolved"));
    stop();
    await clock.pass(310);
    expect(server.log).toEqual(["won by a", "a works", "a stopped", "released", "resolved"]);
  });

  it("while draining after a step-down: the same, once, and no new campaign", async () => {
    const server = new MemoryServer(new VirtualClock());
    const member = await newLeadingMember({ server }, untilAborted(server, 500));
    member.election.stepDown({ cooldown: "0s" });
    await member.clock.pass(100);
    member.stop();
    await member.clock.pass(410);
    expect(server.log).toEqual(["won by a", "a works", "a stopped", "released"]);
    expect(member.events).toContain("ended step-down released");
    expect(member.isDone).toBe(true);
  });

  it("while releasing: waits for that", async () => {
    const member = newMember("a", { cooldown: "0s" });
    member.run(() => {
      member.lock.latencyMs = 50;
    });
    await member.clock.pass(10);
    member.stop();
    await member.clock.pass(200);
    expect(member.isDone).toBe(true);
    expect(member.server.log).toEqual(["won by a", "released"]);
  });

  it("with a lock that cannot be reached any more: by the hard deadline the run gives up on releasing", async () => {
    const member = await newLeadingMember();
    member.lock.cut();
    member.stop();
    await member.clock.pass(14_700);
    expect(member.isDone).toBe(false);
    await member.clock.pass(60);
    expect(member.isDone).toBe(true);
    expect(member.events).toContain("ended shutdown");
    expect(member.clock.armed).toBe(0);
  });

  it("of a term that is lost while it drains: the lock, which is another's, is left alone", async () => {
    const server = new MemoryServer(new VirtualClock());
    const member = await newLeadingMember({ server, onOverrun: "report" }, untilAborted(server, 500));
    member.stop();
    await member.clock.pass(100);
    server.put(recordOf("b"));
    await member.clock.pass(500);
    expect(server.log).toEqual(["won by a", "a works", "won by b", "a stopped"]);
    expect([member.isDone, server.holder]).toEqual([true, "b"]);
    expect(member.term.signal.reason).toMatchObject({ reason: "shutdown" });
    expect(member.events).toContain("ended taken-over");
  });
});

describe("run", () => {
  it("twice at once is refused, and does not disturb the first", async () => {
    const member = await newLeadingMember();
    await expect(member.election.run(() => {})).rejects.toMatchObject({
      code: "AlreadyRunning",
      message: "Cannot run the election twice at once: wait for the first run.",
    });
    await member.clock.pass(20_000);
    expect(member.term.isValid()).toBe(true);
  });

  it("again after a stop: another term with a higher token", async () => {
    const member = await newLeadingMember();
    member.stop();
    await member.clock.pass(10);
    await member.done;
    member.run();
    await member.clock.pass(10);
    expect(member.terms).toHaveLength(2);
    expect(member.terms[1]?.token).toBeGreaterThan(member.term.token);
  });

  it("again right after the promise of the first, and after one that failed to prepare", async () => {
    const member = newMember();
    member.lock.prepare = () => Promise.reject(new Error("no such kubeconfig"));
    await expect(member.run()).rejects.toThrow("no such kubeconfig");
    member.lock.prepare = () => Promise.resolve();
    member.run(() => {}, { once: true });
    await member.clock.pass(10);
    await member.done;
    const again = member.run();
    await member.clock.pass(10);
    expect(member.server.holder).toBe("a");
    member.stop();
    await member.clock.pass(10);
    await again;
  });

  it("leaves no listener on the signal, which may outlive thousands of runs", async () => {
    const { signal } = new AbortController();
    const member = newMember("a", { cooldown: "0s" });
    for (let run = 0; run < 20; run++) {
      member.run(() => {}, { signal, once: true });
      await member.clock.pass(10);
      expect(member.isDone).toBe(true);
    }
    expect(getEventListeners(signal, "abort")).toEqual([]);
  });

  it("keeps one listener on the signal over 10,000 terms, and no timer of any of them", async () => {
    const { signal } = new AbortController();
    const member = newMember("a", { cooldown: "0s" });
    let terms = 0;
    member.run(() => void terms++, { signal });
    await member.clock.pass(20_000);
    while (terms < 10_000) await member.clock.pass(10_000);
    expect(getEventListeners(signal, "abort").length).toBeLessThanOrEqual(2);
    expect([member.clock.armed, member.server.watchers]).toEqual([expect.any(Number), 1]);
    expect(member.clock.armed).toBeLessThanOrEqual(4);
  }, 20_000);
});
