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

describe("three elections on one lock", () => {
  it("exactly one works, and the others know the leader", async () => {
    const { clock, server, replicas } = three();
    for (const replica of replicas) replica.run();
    await clock.pass(60_000);
    expect(withoutRenewals(server.log)).toEqual(["won by a", "a works"]);
    expect(replicas.map(({ election }) => election.leader)).toEqual(["a", "a", "a"]);
    expect(replicas.map(({ election }) => election.term !== undefined)).toEqual([true, false, false]);
  });

  it("the next one works as soon as the first has stopped, not earlier", async () => {
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
      election.on("term-started", ({ term }) => tokens.push(BigInt(term.token)));
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

  it("a leader that is cut off is replaced when its lease expires", async () => {
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
  it("is renewed as long as its work drains, and then released", async () => {
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

  it("aborts its signal with an ElectionError that has the code TermEnded and the reason", async () => {
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
  ])("that ends by %s reports it to the work and to listeners", async (reason, end) => {
    const replica = await newLeadingReplica();
    end(replica);
    await replica.clock.pass(11_000);
    expect(replica.term.signal.reason).toMatchObject({ reason });
    expect(replica.events.find((event) => event.startsWith("ended"))).toMatch(new RegExp(`^ended ${reason}`));
  });

  it("is valid by the clock, even right after the process was paused", async () => {
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

  it("is invalid as soon as the work returned", async () => {
    const { clock, term } = await newLeadingReplica({}, () => {});
    await clock.pass(0);
    expect([term.isValid(), term.remainingMs(), term.signal.aborted]).toEqual([false, 0, true]);
  });

  it("that was lost is followed by another one with a higher token", async () => {
    const { clock, server, terms, lock } = await newLeadingReplica();
    lock.cut();
    await clock.pass(11_000);
    lock.cut(false);
    await clock.pass(20_000);
    expect(terms).toHaveLength(2);
    expect(BigInt(terms[1]?.token ?? 0)).toBeGreaterThan(BigInt(terms[0]?.token ?? 0));
    expect([terms[0]?.isValid(), terms[1]?.isValid()]).toEqual([false, true]);
    expect(server.holder).toBe("a");
  });

  it("does not start its work if the process was frozen until the term expired", async () => {
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

  it("does not start its work if a term-started listener steps down", async () => {
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
  it("that is set forward ends the term", async () => {
    const { clock, term } = await newLeadingReplica({ onOverrun: "report" });
    clock.suspend(3_600_000);
    expect(term.isValid()).toBe(false);
    await clock.pass(40);
    expect(term.signal.aborted).toBe(true);
  });

  it("that is set back has no effect", async () => {
    const { clock, term, server } = await newLeadingReplica();
    clock.suspend(-3_600_000);
    await clock.pass(60_000);
    expect([term.isValid(), term.signal.aborted, server.holder]).toEqual([true, false, "a"]);
  });
});

describe("work that ignores the end of its term", () => {
  it("delays the next term of its own process", async () => {
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
