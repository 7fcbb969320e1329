import { sleep } from "@tenure/base";
import { VirtualClock } from "@tenure/base/virtual-clock";
import { MemoryServer, newReplica, recordOf, untilAborted } from "@tenure/testkit";
import { describe, expect, it } from "vitest";
import { newLeadingReplica } from "./testing/replicas.ts";

function three() {
  const server = new MemoryServer(new VirtualClock());
  const replicas = ["a", "b", "c"].map((identity) => newReplica({ identity, server }));
  return { server, clock: server.clock, replicas };
}

const withoutRenewals = (log: readonly string[]) => log.filter((line) => !line.startsWith("renewed"));

describe("of three elections on one lock", () => {
  it("exactly one works, and the others know whom they wait for", async () => {
    const { clock, server, replicas } = three();
    for (const replica of replicas) replica.run();
    await clock.pass(60_000);
    expect(withoutRenewals(server.log)).toEqual(["won by a", "a works"]);
    expect(replicas.map(({ election }) => election.leader)).toEqual(["a", "a", "a"]);
    expect(replicas.map(({ election }) => election.term !== undefined)).toEqual([true, false, false]);
  });

  it("the next one works as soon as the first has stopped, and not before", async () => {
    const { clock, server, replicas } = three();
    for (const replica of replicas) replica.run(untilAborted(server, 700));
    await clock.pass(10_000);
    replicas[0]?.stop();
    await clock.pass(730);
    expect(withoutRenewals(server.log)).toEqual([
      "won by a",
      "a works",
      "a stopped",
      "released",
      expect.stringMatching(/^won by [bc]$/),
      expect.stringMatching(/^[bc] works$/),
    ]);
  });

  it("tokens grow from term to term", async () => {
    const { clock, replicas } = three();
    const tokens: bigint[] = [];
    for (const { election, run } of replicas) {
      election.on("term-started", ({ term }) => tokens.push(term.token));
      run();
    }
    for (let term = 0; term < 6; term++) {
      await clock.pass(5_000);
      for (const { election } of replicas) election.stepDown();
    }
    await clock.pass(5_000);
    expect(tokens).toHaveLength(7);
    expect(tokens).toEqual([...new Set(tokens)].sort((x, y) => Number(x - y)));
  });

  it("one that dies is followed when its lease has run out", async () => {
    const { clock, server, replicas } = three();
    for (const replica of replicas) replica.run();
    await clock.pass(10_000);
    replicas[0]?.lock.cut();
    await clock.pass(12_000);
    expect(withoutRenewals(server.log)).toEqual(["won by a", "a works", "a stopped"]);
    await clock.pass(3_500);
    expect(withoutRenewals(server.log).slice(3)).toEqual([
      expect.stringMatching(/^won by [bc]$/),
      expect.stringMatching(/^[bc] works$/),
    ]);
  });
});

describe("a term", () => {
  it("is renewed while its work drains, for as long as that takes, and then released", async () => {
    const server = new MemoryServer(new VirtualClock());
    const replica = await newLeadingReplica({ server }, untilAborted(server, 40_000));
    replica.stop();
    await replica.clock.pass(39_000);
    expect(server.log.filter((line) => line === "renewed by a").length).toBeGreaterThanOrEqual(12);
    expect(server.holder).toBe("a");
    expect(replica.term.isValid()).toBe(true);
    await replica.clock.pass(1_010);
    expect(server.log.slice(-2)).toEqual(["a stopped", "released"]);
    expect(replica.isDone).toBe(true);
  });

  it("ends by its signal with the reason, as an ElectionError with code TermEnded", async () => {
    const { clock, term, server } = await newLeadingReplica();
    expect(term.signal.aborted).toBe(false);
    server.put(recordOf("b"));
    await clock.pass(2);
    expect(term.signal.reason).toMatchObject({
      name: "ElectionError",
      code: "TermEnded",
      reason: "taken-over",
      message: "The term ended: taken-over.",
    });
  });

  it.each([
    ["shutdown", ({ stop }: { stop(): void }) => stop()],
    ["step-down", ({ election }: { election: { stepDown(): void } }) => election.stepDown()],
    ["lock-deleted", ({ server }: { server: MemoryServer }) => server.delete()],
    ["overwritten", ({ server }: { server: MemoryServer }) => void server.put(recordOf("a"))],
    ["taken-over", ({ server }: { server: MemoryServer }) => void server.put(recordOf("b"))],
    ["renew-deadline", ({ lock }: { lock: { cut(): void } }) => lock.cut()],
  ])("that ends by %s says so to the work and to listeners", async (reason, end) => {
    const replica = await newLeadingReplica();
    end(replica);
    await replica.clock.pass(11_000);
    expect(replica.term.signal.reason).toMatchObject({ reason });
    expect(replica.events.find((event) => event.startsWith("ended"))).toMatch(new RegExp(`^ended ${reason}`));
  });

  it("is valid by the clock: not a moment longer after a pause that nobody announced", async () => {
    const { clock, lock, term } = await newLeadingReplica();
    const fromSending = term.remainingMs();
    expect(fromSending).toBeGreaterThan(14_740);
    expect(fromSending).toBeLessThanOrEqual(14_750);
    lock.cut();
    clock.freeze(fromSending - 1);
    expect([term.isValid(), term.remainingMs()]).toEqual([true, 1]);
    clock.freeze(1);
    expect([term.isValid(), term.remainingMs()]).toEqual([false, 0]);
    expect(term.signal.aborted).toBe(false);
  });

  it("is over when the work has returned: what is left of it is not told that it may go on", async () => {
    const { clock, term } = await newLeadingReplica({}, () => {});
    await clock.pass(0);
    expect([term.isValid(), term.remainingMs(), term.signal.aborted]).toEqual([false, 0, true]);
  });

  it("that was lost is followed by another one with a higher token, by itself", async () => {
    const { clock, server, terms, lock } = await newLeadingReplica();
    lock.cut();
    await clock.pass(11_000);
    lock.cut(false);
    await clock.pass(20_000);
    expect(terms).toHaveLength(2);
    expect(terms[1]?.token).toBeGreaterThan(terms[0]?.token as bigint);
    expect([terms[0]?.isValid(), terms[1]?.isValid()]).toEqual([false, true]);
    expect(server.holder).toBe("a");
  });

  it("does not begin its work when it ran out before that could begin: the process was frozen on this very line", async () => {
    const replica = newReplica({ onOverrun: "report" });
    const off = replica.election.on("term-started", () => {
      off();
      replica.clock.freeze(20_000);
    });
    replica.run();
    await replica.clock.pass(3);
    expect(replica.terms).toEqual([]);
    await replica.clock.pass(30_000);
    expect(replica.terms).toHaveLength(1);
    expect(replica.terms[0]?.isValid()).toBe(true);
  });

  it("does not begin its work when a listener of its start gives it up", async () => {
    const replica = newReplica();
    const off = replica.election.on("term-started", () => {
      off();
      replica.election.stepDown({ cooldown: "10s" });
    });
    replica.run();
    await replica.clock.pass(100);
    expect(replica.server.log).toEqual(["won by a", "released"]);
    expect(replica.terms).toEqual([]);
  });

  it("knows its holder", async () => {
    const { term, election } = await newLeadingReplica();
    expect([term.identity, election.identity, election.term === term]).toEqual(["a", "a", true]);
  });
});

describe("a wall clock", () => {
  it("set forward by hand costs a term, never safety", async () => {
    const { clock, term } = await newLeadingReplica({ onOverrun: "report" });
    clock.suspend(3_600_000);
    expect(term.isValid()).toBe(false);
    await clock.pass(40);
    expect(term.signal.aborted).toBe(true);
  });

  it("set back by hand changes nothing", async () => {
    const { clock, term, server } = await newLeadingReplica();
    clock.suspend(-3_600_000);
    await clock.pass(60_000);
    expect([term.isValid(), term.signal.aborted, server.holder]).toEqual([true, false, "a"]);
  });
});

describe("work that sleeps through the end of its term", () => {
  it("keeps the next term of its own process waiting as well", async () => {
    const server = new MemoryServer(new VirtualClock());
    const replica = await newLeadingReplica({ server, onOverrun: "report" }, async () => {
      await sleep(server.clock, 60_000);
      server.log.push("awake");
    });
    server.put(recordOf("", { leaseDurationSeconds: 1 }));
    await replica.clock.pass(59_000);
    expect(replica.terms).toHaveLength(1);
    await replica.clock.pass(2_000);
    expect(replica.terms).toHaveLength(2);
    expect(withoutRenewals(server.log)).toEqual(["won by a", "released", "awake", "won by a"]);
  });
});
