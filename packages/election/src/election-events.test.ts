/** What an election reports: events, metrics, announcements, health and the leader. */

import { settle, VirtualClock } from "@tenure/base/virtual-clock";
import { MemoryServer, newReplica, recordOf } from "@tenure/testkit";
import { describe, expect, it, vi } from "vitest";
import type { ElectionMetrics } from "./metrics.ts";
import { aborted, newLeadingReplica } from "./testing/replicas.ts";

describe("events", () => {
  it("are not reported to a listener that was removed", async () => {
    const replica = newReplica();
    const [heard, removed] = [vi.fn(), vi.fn()];
    replica.election.on("leader-changed", heard);
    replica.election.on("leader-changed", removed);
    replica.election.once("leader-changed", removed);
    replica.election.off("leader-changed", removed);
    replica.run();
    await replica.clock.pass(100);
    expect(heard).toHaveBeenCalled();
    expect(removed).not.toHaveBeenCalled();
    replica.stop();
    await replica.clock.pass(10);
  });

  it("are emitted in order", async () => {
    const replica = newReplica();
    const { clock, server, election, events } = replica;
    server.put(recordOf("b"));
    replica.run();
    await clock.pass(15_100);
    election.stepDown();
    await clock.pass(100);
    server.put(recordOf("c"));
    await clock.pass(100);
    replica.stop();
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

  it("of the start are emitted before the work starts, and of the end after it stopped", async () => {
    const replica = newReplica();
    replica.run(async ({ signal }) => {
      replica.events.push("works");
      await aborted(signal);
      replica.events.push("stops");
    });
    await replica.clock.pass(10);
    replica.stop();
    await replica.clock.pass(10);
    expect(replica.events).toEqual([
      "started",
      "leader a",
      "works",
      "stops",
      "ended shutdown released",
      "leader undefined",
    ]);
  });

  it("include every renewal, with its term", async () => {
    const replica = await newLeadingReplica();
    const terms: unknown[] = [];
    replica.election.on("renewed", ({ term }) => terms.push(term));
    await replica.clock.pass(9_500);
    expect(terms).toEqual([replica.term, replica.term, replica.term]);
  });

  it("are not sent to a listener that was removed", async () => {
    const replica = await newLeadingReplica();
    let calls = 0;
    const off = replica.election.on("renewed", () => calls++);
    await replica.clock.pass(3_500);
    off();
    await replica.clock.pass(9_000);
    expect(calls).toBe(1);
  });

  it("continue for other listeners if one throws, which becomes a warning", async () => {
    const warn = vi.spyOn(process, "emitWarning").mockImplementation(() => {});
    const replica = newReplica();
    const calls: string[] = [];
    for (const name of ["term-started", "leader-changed", "renewed", "term-ended"] as const) {
      replica.election.on(name, () => {
        throw new Error(`${name} listener`);
      });
      replica.election.on(name, () => calls.push(name));
    }
    replica.run();
    await replica.clock.pass(4_000);
    replica.stop();
    await replica.clock.pass(10);
    expect(calls).toEqual(["term-started", "leader-changed", "renewed", "term-ended", "leader-changed"]);
    expect(warn).toHaveBeenCalledTimes(5);
    expect(warn.mock.calls[0]?.[0]).toMatch(/^Error: term-started listener/);
    warn.mockRestore();
    expect(replica.server.log.at(-1)).toBe("released");
  });

  it("continue if an async listener rejects, which becomes a warning", async () => {
    const warn = vi.spyOn(process, "emitWarning").mockImplementation(() => {});
    const replica = newReplica();
    replica.election.on("term-started", async () => {
      throw new Error("async listener");
    });
    replica.run();
    await replica.clock.pass(10);
    expect(warn.mock.calls[0]?.[0]).toMatch(/^Error: async listener/);
    warn.mockRestore();
  });

  it("include an error for a failed request, with what could not be done and the failure", async () => {
    const replica = newReplica();
    const errors: unknown[] = [];
    replica.election.on("error", (event) => errors.push(event));
    replica.lock.fault = () => ({ kind: "denied", message: "a is not allowed to" });
    replica.run();
    await replica.clock.pass(10);
    expect(errors).toEqual([
      {
        error: new Error("Cannot read lock in memory: a is not allowed to"),
        failure: { kind: "denied", message: "a is not allowed to" },
      },
    ]);
  });

  it("include an error for a failed watch", async () => {
    const replica = newReplica();
    replica.lock.watch = (observer) => observer.down({ kind: "denied", message: "may not watch" });
    replica.run();
    await replica.clock.pass(10);
    expect(replica.events).toContain("error Cannot watch lock in memory: may not watch");
    expect([replica.isDone, replica.terms.length]).toEqual([false, 1]);
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
    const replica = await newLeadingReplica({ metrics });
    await replica.clock.pass(7_000);
    replica.lock.fault = () => ({ kind: "throttled", message: "later" });
    await replica.clock.pass(2_500);
    replica.lock.fault = undefined;
    await replica.clock.pass(500);
    replica.stop();
    await replica.clock.pass(10);
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

  it("that throw cause a warning and do not affect the election", async () => {
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
    const replica = await newLeadingReplica({ metrics });
    replica.lock.fault = () => ({ kind: "server", message: "internal" });
    await replica.clock.pass(4_000);
    replica.lock.fault = undefined;
    await replica.clock.pass(4_000);
    replica.stop();
    await replica.clock.pass(10);
    expect(replica.server.log.slice(0, 3)).toEqual(["won by a", "a works", "renewed by a"]);
    expect(replica.server.log.at(-1)).toBe("released");
    expect(warn).toHaveBeenCalled();
    warn.mockRestore();
  });

  it("may omit any method", async () => {
    const warn = vi.spyOn(process, "emitWarning").mockImplementation(() => {});
    const replica = await newLeadingReplica({ metrics: {} });
    replica.lock.fault = () => ({ kind: "server", message: "internal" });
    await replica.clock.pass(11_000);
    expect(replica.events).toContain("ended renew-deadline");
    expect(warn).not.toHaveBeenCalled();
    warn.mockRestore();
  });
});

describe("announce", () => {
  it("records who became leader and who stopped", async () => {
    const replica = newReplica({ announce: true });
    const said: string[] = [];
    replica.lock.announce = async (message) => void said.push(message);
    replica.run();
    await replica.clock.pass(10);
    replica.stop();
    await replica.clock.pass(10);
    expect(said).toEqual(["a became leader", "a stopped leading"]);
  });

  it("records nothing if it is off or the lock does not support it", async () => {
    const silent = newReplica();
    silent.lock.announce = vi.fn(() => Promise.resolve());
    silent.run();
    await silent.clock.pass(10);
    expect(silent.lock.announce).not.toHaveBeenCalled();
    const mute = await newLeadingReplica({ announce: true });
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
  ])("emits an error event if an announcement %s", async (_how, announce) => {
    const replica = newReplica({ announce: true });
    replica.lock.announce = announce;
    replica.run();
    await replica.clock.pass(10);
    expect(replica.events).toContain("error no events for you");
    expect(replica.terms).toHaveLength(1);
  });
});

describe("leader", () => {
  it("is undefined before a run and after the lease expires", async () => {
    const replica = newReplica();
    expect(replica.election.leader).toBeUndefined();
    replica.server.put(recordOf("b"));
    replica.run();
    await replica.clock.pass(10);
    expect(replica.election.leader).toBe("b");
    replica.clock.freeze(15_000);
    expect(replica.election.leader).toBeUndefined();
  });
});

describe("health", () => {
  it("is good while the election does not run", async () => {
    const replica = newReplica();
    expect(replica.election.health()).toEqual({ healthy: true, message: "not running" });
    await replica.clock.pass(0);
  });

  it("is good right after the start, and bad after two leases without contact", async () => {
    const replica = newReplica();
    replica.lock.cut();
    replica.lock.watch = () => {};
    replica.run();
    await settle();
    expect(replica.election.health()).toEqual({ healthy: true, message: "waiting" });
    await replica.clock.pass(29_000);
    expect(replica.election.health().healthy).toBe(true);
    await replica.clock.pass(1_100);
    expect(replica.election.health()).toEqual({
      healthy: false,
      message: "no contact with lock in memory for 30 s",
    });
  });

  it("is good at the start of a second run, however long ago the first was", async () => {
    const replica = await newLeadingReplica();
    replica.stop();
    await replica.clock.pass(3_600_000);
    replica.lock.watch = () => {};
    expect(replica.election.health()).toEqual({ healthy: true, message: "not running" });
    replica.run();
    await settle();
    expect(replica.election.health()).toEqual({ healthy: true, message: "waiting" });
  });

  it("is bad for a candidate whose connection is cut", async () => {
    const server = new MemoryServer(new VirtualClock());
    const leader = await newLeadingReplica({ server });
    const other = newReplica({ identity: "b", server });
    other.run();
    await server.clock.pass(60_000);
    expect(leader.election.health()).toEqual({ healthy: true, message: "leading" });
    expect(other.election.health()).toEqual({ healthy: true, message: "waiting" });
    other.lock.cut();
    await server.clock.pass(31_000);
    expect(other.election.health()).toMatchObject({ healthy: false });
    expect(leader.election.health()).toMatchObject({ healthy: true });
  });

  it("is bad for a leader whose term expired while its work goes on", async () => {
    let finish = () => {};
    const replica = await newLeadingReplica(
      { onOverrun: "report" },
      () => new Promise<void>((resolve) => (finish = resolve)),
    );
    replica.lock.cut();
    await replica.clock.pass(14_700);
    expect(replica.election.health()).toMatchObject({ healthy: true });
    await replica.clock.pass(100);
    expect(replica.election.health()).toEqual({
      healthy: false,
      message: "the term has expired, but its work has not stopped",
    });
    finish();
    await replica.clock.pass(0);
    expect(replica.election.health()).toEqual({ healthy: true, message: "waiting" });
  });

  it("is good for a leader that releases the lock after its work stopped", async () => {
    const replica = await newLeadingReplica();
    replica.lock.cut();
    replica.stop();
    await replica.clock.pass(1_000);
    expect(replica.isDone).toBe(false);
    expect(replica.election.health()).toMatchObject({ healthy: true });
  });
});
