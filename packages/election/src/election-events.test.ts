/** What an election tells: events in order, figures, announcements, health, and who leads. */

import { settle, VirtualClock } from "@tenure/base/virtual-clock";
import { MemoryServer, recordOf } from "@tenure/testkit";
import { describe, expect, it, vi } from "vitest";
import type { ElectionMetrics } from "./metrics.ts";
import { aborted, newLeadingMember, newMember } from "./testing/elections.ts";

describe("events", () => {
  it("come in the order in which things happened", async () => {
    const member = newMember();
    const { clock, server, election, events } = member;
    server.put(recordOf("b"));
    member.run();
    await clock.pass(15_100);
    election.stepDown();
    await clock.pass(100);
    server.put(recordOf("c"));
    await clock.pass(100);
    member.stop();
    await clock.pass(10);
    expect(events).toEqual([
      "leader b",
      "leader undefined",
      "started",
      "leader a",
      "ended step-down released",
      "leader undefined",
      "leader c",
    ]);
  });

  it("of the start come before the work begins, and of the end after it has stopped", async () => {
    const member = newMember();
    member.run(async ({ signal }) => {
      member.events.push("works");
      await aborted(signal);
      member.events.push("stops");
    });
    await member.clock.pass(10);
    member.stop();
    await member.clock.pass(10);
    expect(member.events).toEqual([
      "started",
      "leader a",
      "works",
      "stops",
      "ended shutdown released",
      "leader undefined",
    ]);
  });

  it("tell of every renewal, with its term", async () => {
    const member = await newLeadingMember();
    const terms: unknown[] = [];
    member.election.on("renewed", ({ term }) => terms.push(term));
    await member.clock.pass(9_500);
    expect(terms).toEqual([member.term, member.term, member.term]);
  });

  it("stop for a listener that ended itself", async () => {
    const member = await newLeadingMember();
    let heard = 0;
    const off = member.election.on("renewed", () => heard++);
    await member.clock.pass(3_500);
    off();
    await member.clock.pass(9_000);
    expect(heard).toBe(1);
  });

  it("a listener that throws is a warning; the election and the other listeners go on", async () => {
    const warn = vi.spyOn(process, "emitWarning").mockImplementation(() => {});
    const member = newMember();
    const heard: string[] = [];
    for (const name of ["term-started", "leader-changed", "renewed", "term-ended"] as const) {
      member.election.on(name, () => {
        throw new Error(`${name} listener`);
      });
      member.election.on(name, () => heard.push(name));
    }
    member.run();
    await member.clock.pass(4_000);
    member.stop();
    await member.clock.pass(10);
    expect(heard).toEqual(["term-started", "leader-changed", "renewed", "term-ended", "leader-changed"]);
    expect(warn).toHaveBeenCalledTimes(5);
    expect(warn.mock.calls[0]?.[0]).toMatch(/^Error: term-started listener/);
    warn.mockRestore();
    expect(member.server.log.at(-1)).toBe("released");
  });

  it("a listener that rejects is a warning, too, and not the end of the process", async () => {
    const warn = vi.spyOn(process, "emitWarning").mockImplementation(() => {});
    const member = newMember();
    member.election.on("term-started", async () => {
      throw new Error("async listener");
    });
    member.run();
    await member.clock.pass(10);
    expect(warn.mock.calls[0]?.[0]).toMatch(/^Error: async listener/);
    warn.mockRestore();
  });

  it("a failed request is an error that says what could not be done, with the failure", async () => {
    const member = newMember();
    const errors: unknown[] = [];
    member.election.on("error", (event) => errors.push(event));
    member.lock.fault = () => ({ kind: "denied", message: "a is not allowed to" });
    member.run();
    await member.clock.pass(10);
    expect(errors).toEqual([
      {
        error: new Error("Cannot read lock in memory: a is not allowed to"),
        failure: { kind: "denied", message: "a is not allowed to" },
      },
    ]);
  });

  it("a watch that fails is an error, too", async () => {
    const member = newMember();
    member.lock.watch = (observer) => observer.down({ kind: "denied", message: "may not watch" });
    member.run();
    await member.clock.pass(10);
    expect(member.events).toContain("error Cannot watch lock in memory: may not watch");
    expect([member.isDone, member.terms.length]).toEqual([false, 1]);
  });
});

describe("metrics", () => {
  const spies = () =>
    ({
      leading: vi.fn(),
      termStarted: vi.fn(),
      termEnded: vi.fn(),
      request: vi.fn(),
      requestFailed: vi.fn(),
    }) satisfies ElectionMetrics;

  it("count terms, requests and failures", async () => {
    const metrics = spies();
    const member = await newLeadingMember({ metrics });
    await member.clock.pass(7_000);
    member.lock.fault = () => ({ kind: "throttled", message: "later" });
    await member.clock.pass(2_500);
    member.lock.fault = undefined;
    await member.clock.pass(500);
    member.stop();
    await member.clock.pass(10);
    expect(metrics.leading.mock.calls).toEqual([[true], [false]]);
    expect(metrics.termStarted).toHaveBeenCalledTimes(1);
    expect(metrics.termEnded.mock.calls).toEqual([["shutdown", expect.any(Number)]]);
    expect(metrics.termEnded.mock.calls[0]?.[1]).toBeGreaterThan(10_000);
    expect(metrics.termEnded.mock.calls[0]?.[1]).toBeLessThan(10_020);
    expect(metrics.request.mock.calls.map(([during]) => during)).toEqual([
      "read",
      "acquire",
      "renew",
      "renew",
      "renew",
      "release",
    ]);
    expect(metrics.request.mock.calls[0]?.[1]).toBe(1);
    expect(metrics.requestFailed.mock.calls[0]).toEqual(["renew", "throttled"]);
  });

  it("that throw harm nothing, and are a warning", async () => {
    const warn = vi.spyOn(process, "emitWarning").mockImplementation(() => {});
    const fail = () => {
      throw new Error("no such label");
    };
    const metrics: ElectionMetrics = {
      leading: fail,
      termStarted: fail,
      termEnded: fail,
      request: fail,
      requestFailed: fail,
    };
    const member = await newLeadingMember({ metrics });
    member.lock.fault = () => ({ kind: "server", message: "internal" });
    await member.clock.pass(4_000);
    member.lock.fault = undefined;
    await member.clock.pass(4_000);
    member.stop();
    await member.clock.pass(10);
    expect(member.server.log.slice(0, 3)).toEqual(["won by a", "a works", "renewed by a"]);
    expect(member.server.log.at(-1)).toBe("released");
    expect(warn).toHaveBeenCalled();
    warn.mockRestore();
  });

  it("may have any of their methods, or none", async () => {
    const member = await newLeadingMember({ metrics: {} });
    member.lock.fault = () => ({ kind: "server", message: "internal" });
    await member.clock.pass(11_000);
    expect(member.events).toContain("ended renew-deadline");
  });
});

describe("announce", () => {
  it("tells the lock who became leader and who stopped", async () => {
    const member = newMember("a", { announce: true });
    const said: string[] = [];
    member.lock.announce = async (message) => void said.push(message);
    member.run();
    await member.clock.pass(10);
    member.stop();
    await member.clock.pass(10);
    expect(said).toEqual(["a became leader", "a stopped leading"]);
  });

  it("says nothing unless it is asked to, nor where the lock cannot", async () => {
    const silent = newMember();
    silent.lock.announce = vi.fn(() => Promise.resolve());
    silent.run();
    await silent.clock.pass(10);
    expect(silent.lock.announce).not.toHaveBeenCalled();
    const mute = await newLeadingMember({ announce: true });
    expect(mute.term.isValid()).toBe(true);
  });

  it.each([
    ["rejects", () => Promise.reject(new Error("no events for you"))],
    [
      "throws",
      () => {
        throw new Error("no events for you");
      },
    ],
  ])("an announcement that %s is an error event, and nothing else", async (_how, announce) => {
    const member = newMember("a", { announce: true });
    member.lock.announce = announce;
    member.run();
    await member.clock.pass(10);
    expect(member.events).toContain("error no events for you");
    expect(member.terms).toHaveLength(1);
  });
});

describe("leader", () => {
  it("is unknown before a run, and expires by the clock", async () => {
    const member = newMember();
    expect(member.election.leader).toBeUndefined();
    member.server.put(recordOf("b"));
    member.run();
    await member.clock.pass(10);
    expect(member.election.leader).toBe("b");
    member.clock.freeze(15_000);
    expect(member.election.leader).toBeUndefined();
  });
});

describe("health", () => {
  it("of what does not run is good", async () => {
    const member = newMember();
    expect(member.election.health()).toEqual({ healthy: true, message: "not running" });
    await member.clock.pass(0);
  });

  it("of one that has just started is good: it was not cut off yet", async () => {
    const member = newMember();
    member.lock.cut();
    member.lock.watch = () => {};
    member.run();
    await settle();
    expect(member.election.health()).toEqual({ healthy: true, message: "waiting" });
    await member.clock.pass(29_000);
    expect(member.election.health().healthy).toBe(true);
    await member.clock.pass(1_100);
    expect(member.election.health()).toEqual({
      healthy: false,
      message: "nothing heard of lock in memory for 30 s",
    });
  });

  it("of a second run is good at first, however long ago the first was", async () => {
    const member = await newLeadingMember();
    member.stop();
    await member.clock.pass(3_600_000);
    member.lock.watch = () => {};
    expect(member.election.health()).toEqual({ healthy: true, message: "not running" });
    member.run();
    await settle();
    expect(member.election.health()).toEqual({ healthy: true, message: "waiting" });
  });

  it("of a candidate that hears of the lock is good, and bad when it is cut off", async () => {
    const server = new MemoryServer(new VirtualClock());
    const leader = await newLeadingMember({ server });
    const other = newMember("b", { server });
    other.run();
    await server.clock.pass(60_000);
    expect(leader.election.health()).toEqual({ healthy: true, message: "leading" });
    expect(other.election.health()).toEqual({ healthy: true, message: "waiting" });
    other.lock.cut();
    await server.clock.pass(31_000);
    expect(other.election.health()).toMatchObject({ healthy: false });
    expect(leader.election.health()).toMatchObject({ healthy: true });
  });

  it("of a leader whose time has run out is bad as long as its work goes on", async () => {
    let finish = () => {};
    const member = await newLeadingMember(
      { onOverrun: "report" },
      () => new Promise<void>((resolve) => (finish = resolve)),
    );
    member.lock.cut();
    await member.clock.pass(14_700);
    expect(member.election.health()).toMatchObject({ healthy: true });
    await member.clock.pass(100);
    expect(member.election.health()).toEqual({
      healthy: false,
      message: "the term has run out and its work has not stopped",
    });
    finish();
    await member.clock.pass(0);
    expect(member.election.health()).toEqual({ healthy: true, message: "waiting" });
  });

  it("of a leader that is giving the lock back is good: its work has stopped", async () => {
    const member = await newLeadingMember();
    member.lock.cut();
    member.stop();
    await member.clock.pass(1_000);
    expect(member.isDone).toBe(false);
    expect(member.election.health()).toMatchObject({ healthy: true });
  });
});
