/** How work can end, and how the election reacts. */

import { sleep } from "@tenure/base";
import { VirtualClock } from "@tenure/base/virtual-clock";
import { MemoryServer, newReplica, recordOf, untilAborted } from "@tenure/testkit";
import { describe, expect, it, vi } from "vitest";
import { Election } from "./election.ts";
import { aborted, newLeadingReplica } from "./testing/replicas.ts";

describe("work that ends by itself", () => {
  it("releases the lock, and its candidate does not campaign during the cool-down", async () => {
    const { clock, server, term, events, terms } = await newLeadingReplica(
      { cooldown: "5s" },
      () => "result",
    );
    await clock.pass(10);
    expect(server.log).toEqual(["won by a", "released"]);
    expect(term.signal.reason).toMatchObject({ reason: "work-ended" });
    expect(events).toContain("ended work-ended released");
    await clock.pass(4_900);
    expect(terms).toHaveLength(1);
    await clock.pass(200);
    expect(terms).toHaveLength(2);
  });

  it("has a cool-down of retryPeriod by default", async () => {
    const { clock, terms } = await newLeadingReplica({ retryPeriod: "3s" }, () => {});
    await clock.pass(2_900);
    expect(terms).toHaveLength(1);
    await clock.pass(200);
    expect(terms).toHaveLength(2);
  });

  it.each([
    [
      "throws",
      () => {
        throw new Error("boom");
      },
      "boom",
    ],
    ["rejects", () => Promise.reject(new Error("boom")), "boom"],
    ["throws a value that is not an Error", () => Promise.reject("boom"), "boom"],
    ["rejects with nothing", () => Promise.reject(), "undefined"],
  ])("and %s is reported, and the lock is released", async (_how, work, message) => {
    const { clock, server, events } = await newLeadingReplica({}, work);
    await clock.pass(10);
    expect(server.log).toEqual(["won by a", "released"]);
    expect(events).toContain(`error ${message}`);
  });

  it("and throws causes a warning if there is no error listener", async () => {
    const warnings: Error[] = [];
    const note = (warning: Error) => warnings.push(warning);
    process.on("warning", note);
    const { clock, lock } = newReplica();
    const silent = new Election({ lock, clock, identity: "silent", random: () => 0.5 });
    const shutdown = new AbortController();
    const done = silent.run(() => Promise.reject(new TypeError("no listener")), shutdown);
    await clock.pass(10);
    shutdown.abort();
    await clock.pass(10);
    await done;
    process.off("warning", note);
    expect(warnings.map(({ name, message }) => `${name}: ${message}`)).toEqual([
      expect.stringMatching(/^TypeError: TypeError: no listener/),
    ]);
  });
});

describe("work that throws an unusual value", () => {
  const nameless = Object.assign(new Error("nameless"), { name: undefined });
  const stackless = Object.assign(new Error("stackless"), { stack: [{}] });
  it.each<[string, unknown]>([
    ["an object without toString", Object.create(null)],
    ["an error without a name", nameless],
    ["an error whose stack is not a string", stackless],
    ["a symbol", Symbol("x")],
  ])("%s: releases the lock", async (_what, thrown) => {
    const warn = vi.spyOn(process, "emitWarning").mockImplementation(() => {});
    const clock = new VirtualClock();
    const server = new MemoryServer(clock);
    const election = new Election({ lock: server.link(), clock, identity: "a", random: () => 0.5 });
    const shutdown = new AbortController();
    const done = election.run(() => Promise.reject(thrown), shutdown);
    await clock.pass(10);
    expect(server.log).toEqual(["won by a", "released"]);
    expect(warn).toHaveBeenCalledTimes(1);
    shutdown.abort();
    await clock.pass(10);
    await done;
    warn.mockRestore();
  });
});

describe("work that ends because it was asked to", () => {
  it.each<[string, (signal: AbortSignal) => unknown]>([
    ["the reason of its signal", (signal) => signal.throwIfAborted()],
    [
      "an AbortError",
      () => {
        throw new DOMException("The operation was aborted", "AbortError");
      },
    ],
    [
      "an error that the reason caused",
      (signal) => {
        throw new Error("fetch failed", { cause: signal.reason });
      },
    ],
  ])("and throws %s is not an error", async (_what, end) => {
    const { clock, election, events } = await newLeadingReplica({}, async ({ signal }) => {
      await aborted(signal);
      end(signal);
    });
    election.stepDown();
    await clock.pass(10);
    expect(events.filter((event) => event.startsWith("error"))).toEqual([]);
    expect(events).toContain("ended step-down released");
  });

  it("and throws something else is reported", async () => {
    const { clock, election, events } = await newLeadingReplica({}, async ({ signal }) => {
      await aborted(signal);
      throw new Error("could not flush", { cause: new Error("disk full") });
    });
    election.stepDown();
    await clock.pass(10);
    expect(events).toContain("error could not flush");
  });

  it("but throws an AbortError before its signal aborts is reported", async () => {
    const { clock, events } = await newLeadingReplica({}, () => {
      throw new DOMException("some other signal", "AbortError");
    });
    await clock.pass(10);
    expect(events).toContain("error some other signal");
  });
});

describe("once", () => {
  it("resolves after the first term, with the lock released and the right reason", async () => {
    const { clock, server, events, done } = await newLeadingReplica({}, () => {}, { once: true });
    await clock.pass(10);
    await done;
    expect(server.log).toEqual(["won by a", "released"]);
    expect(events).toContain("ended work-ended released");
    await clock.pass(60_000);
    expect(server.log).toHaveLength(2);
  });

  it("does not acquire the lock again, even without a cool-down", async () => {
    const { clock, lock, server, done } = await newLeadingReplica({ cooldown: "0s" }, () => {}, {
      once: true,
    });
    await clock.pass(10);
    await done;
    expect(server.log).toEqual(["won by a", "released"]);
    expect(lock.requests).toHaveLength(3);
  });

  it("rejects with the error of the work, after the lock was released", async () => {
    const error = new Error("boom");
    const { clock, server, events, done } = await newLeadingReplica({}, () => Promise.reject(error), {
      once: true,
    });
    await clock.pass(10);
    await expect(done).rejects.toBe(error);
    expect(server.log).toEqual(["won by a", "released"]);
    expect(events.filter((event) => event.startsWith("error"))).toEqual([]);
  });

  it("rejects even with a value that is not an Error", async () => {
    const replica = await newLeadingReplica({}, () => Promise.reject(undefined), { once: true });
    await replica.clock.pass(10);
    await expect(replica.done).rejects.toBeUndefined();
  });

  it("ends after a lost term, without another write", async () => {
    const { clock, server, events, done } = await newLeadingReplica({}, undefined, { once: true });
    server.put(recordOf("b"));
    await clock.pass(10);
    await done;
    expect(events).toContain("ended taken-over");
    expect(server.log.at(-1)).toBe("a stopped");
    await clock.pass(60_000);
    expect(server.holder).toBe("b");
  });

  it("ends after a term that missed its deadline, without acquiring the lock again", async () => {
    const { clock, lock, server, done } = await newLeadingReplica({}, undefined, { once: true });
    lock.cut();
    await clock.pass(10_000);
    lock.cut(false);
    await clock.pass(100);
    await done;
    expect(server.log).toEqual(["won by a", "a works", "a stopped"]);
  });

  it("ends after a step-down", async () => {
    const { clock, election, events, done } = await newLeadingReplica({}, undefined, { once: true });
    election.stepDown();
    await clock.pass(10);
    await done;
    expect(events).toContain("ended step-down released");
  });
});

describe("stepDown", () => {
  it("lets another candidate win, and waits for the cool-down", async () => {
    const server = new MemoryServer(new VirtualClock());
    const first = await newLeadingReplica({ server });
    const second = newReplica({ identity: "b", server });
    second.run();
    await server.clock.pass(10);
    first.election.stepDown({ cooldown: "30s" });
    await server.clock.pass(20);
    expect(server.holder).toBe("b");
    second.stop();
    await server.clock.pass(29_000);
    expect(server.holder).toBe("");
    await server.clock.pass(1_500);
    expect(server.holder).toBe("a");
  });

  it("waits for the work", async () => {
    const server = new MemoryServer(new VirtualClock());
    const { clock, election, term } = await newLeadingReplica({ server }, untilAborted(server, 20_000));
    election.stepDown();
    await clock.pass(19_900);
    expect([server.holder, term.isValid()]).toEqual(["a", true]);
    await clock.pass(200);
    expect(server.log.slice(-2)).toEqual(["a stopped", "released"]);
  });

  it("twice has the same effect as once, and has none before a run, while waiting, and after a run", async () => {
    const replica = newReplica();
    replica.election.stepDown();
    replica.server.put(recordOf("b"));
    replica.run();
    await replica.clock.pass(10);
    replica.election.stepDown();
    await replica.clock.pass(16_000);
    expect(replica.server.holder).toBe("a");
    replica.election.stepDown({ cooldown: "1s" });
    replica.election.stepDown({ cooldown: "1h" });
    await replica.clock.pass(1_100);
    expect(replica.terms).toHaveLength(2);
    replica.stop();
    await replica.clock.pass(10);
    replica.election.stepDown();
    expect(replica.isDone).toBe(true);
  });

  it.each(["30", "-1s", "soon", ""])("rejects the cool-down %j", async (cooldown) => {
    const { election } = newReplica();
    expect(() => election.stepDown({ cooldown })).toThrow(
      `Cannot step down: cooldown must be a duration like "15s" or "500ms", but is "${cooldown}".`,
    );
  });
});

describe("work that stops slowly", () => {
  it("may run until the hard deadline after its signal aborts", async () => {
    const server = new MemoryServer(new VirtualClock());
    const { clock, lock, term, events } = await newLeadingReplica({ server }, async ({ signal }) => {
      await aborted(signal);
      await sleep(server.clock, 4_000);
    });
    lock.cut();
    await clock.pass(13_000);
    expect([term.signal.aborted, term.isValid()]).toEqual([true, true]);
    expect(events).not.toContain("overrun");
    await clock.pass(1_100);
    expect(events).toContain("ended renew-deadline");
  });
});
