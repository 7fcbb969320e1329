/** Overruns, lost terms, duplicate identities, denied access, and locks that operators change. */

import { VirtualClock } from "@tenure/base/virtual-clock";
import { Election } from "@tenure/election";
import { MemoryServer, newReplica, recordOf } from "@tenure/testkit";
import { describe, expect, it, vi } from "vitest";
import { newLeadingReplica } from "./testing/replicas.ts";

const ended = vi.hoisted(() => ({ messages: [] as string[] }));
vi.mock("./platform.ts", async (original) => ({
  ...(await original<typeof import("./platform.ts")>()),
  endProcess: (message: string) => void ended.messages.push(message),
}));

const never = () => new Promise<void>(() => {});

describe("work that still runs at the hard deadline", () => {
  it('is reported once, at that moment, with onOverrun "report"', async () => {
    const { clock, lock, events, election } = await newLeadingReplica({ onOverrun: "report" }, never);
    lock.cut();
    await clock.pass(14_740);
    expect(events).not.toContain("overrun");
    await clock.pass(10);
    await clock.pass(60_000);
    expect(events.filter((event) => event === "overrun")).toHaveLength(1);
    expect(election.term?.isValid()).toBe(false);
    expect(ended.messages).toEqual([]);
  });

  it("and then stops lets the candidate campaign again", async () => {
    let finish = () => {};
    const replica = await newLeadingReplica(
      { onOverrun: "report" },
      () => new Promise<void>((resolve) => (finish = resolve)),
    );
    replica.lock.cut();
    await replica.clock.pass(20_000);
    replica.lock.cut(false);
    expect(replica.terms).toHaveLength(1);
    finish();
    await replica.clock.pass(1_000);
    expect(replica.events).toContain("ended renew-deadline");
    expect(replica.terms).toHaveLength(2);
  });

  it("ends the process by default, after the event, with a message that says why", async () => {
    const clock = new VirtualClock();
    const lock = new MemoryServer(clock).link();
    const election = new Election({ lock, clock, identity: "a", random: () => 0.5 });
    const events: string[] = [];
    election.on("overrun", () => events.push("overrun"));
    void election.run(never);
    await clock.until(() => election.term !== undefined, 1_000);
    lock.cut();
    await clock.pass(14_740);
    expect(ended.messages).toEqual([]);
    await clock.pass(10);
    expect(events).toEqual(["overrun"]);
    expect(ended.messages).toEqual([
      expect.stringMatching(
        /^tenure: the term of lock in memory is over, but its work has not stopped by the hard deadline/,
      ),
    ]);
  });
});

describe("a term that is lost", () => {
  const signals = ({ term }: Election) => [term?.signal.aborted, term?.lost.aborted, term?.expired.aborted];

  it("aborts lost at the renew deadline and expired at the hard deadline", async () => {
    const { clock, lock, election } = await newLeadingReplica({ onOverrun: "report" }, never);
    lock.cut();
    await clock.pass(9_990);
    expect(signals(election)).toEqual([false, false, false]);
    await clock.pass(10);
    expect(signals(election)).toEqual([true, true, false]);
    expect(election.term?.lost.reason).toMatchObject({ code: "TermEnded", reason: "renew-deadline" });
    await clock.pass(4_740);
    expect(signals(election)).toEqual([true, true, false]);
    await clock.pass(10);
    expect(signals(election)).toEqual([true, true, true]);
  });

  it("to another holder has no time left", async () => {
    const { clock, server, election } = await newLeadingReplica({ onOverrun: "report" }, never);
    server.put(recordOf("thief"));
    await clock.pass(1);
    expect(signals(election)).toEqual([true, true, true]);
    expect(election.term?.remainingMs()).toBe(0);
  });

  it("while it was ending on purpose aborts lost too", async () => {
    const { clock, lock, election } = await newLeadingReplica({ onOverrun: "report" }, never);
    election.stepDown();
    expect(signals(election)).toEqual([true, false, false]);
    expect(election.term?.signal.reason).toMatchObject({ reason: "step-down" });
    lock.cut();
    await clock.pass(10_000);
    expect(signals(election)).toEqual([true, true, false]);
    expect(election.term?.lost.reason).toMatchObject({ reason: "renew-deadline" });
  });
});

describe("a live process with the same identity", () => {
  it("makes the run reject, also when it is tried again", async () => {
    const server = new MemoryServer(new VirtualClock());
    await newLeadingReplica({ server });
    const twin = newReplica({ server });
    const done = twin.run();
    await server.clock.pass(10_000);
    await expect(done).rejects.toMatchObject({
      code: "DuplicateIdentity",
      message: expect.stringMatching(
        /^Cannot take part in the election of lock in memory: another live process .*identity "a".*\.$/,
      ),
    });
    expect(twin.terms).toEqual([]);
    expect(server.watchers).toBe(1);
    const again = twin.run();
    await server.clock.pass(10_000);
    await expect(again).rejects.toMatchObject({ code: "DuplicateIdentity" });
  });

  it("never works at the same time if both start at the same moment", async () => {
    const server = new MemoryServer(new VirtualClock());
    let working = 0;
    let most = 0;
    const twins = [0.1, 0.9].map((random) => newReplica({ server, random: () => random }));
    for (const twin of twins) {
      twin.run(async ({ signal }) => {
        most = Math.max(most, ++working);
        await new Promise((resolve) => signal.addEventListener("abort", resolve, { once: true }));
        working -= 1;
      });
    }
    await server.clock.pass(120_000);
    expect(most).toBe(1);
  });
});

describe("access denied by the API server", () => {
  const denied = { kind: "denied", message: "may not get leases" } as const;

  it("is reported, and the request is retried", async () => {
    const replica = newReplica();
    replica.lock.fault = () => denied;
    replica.run();
    await replica.clock.pass(10_000);
    expect(replica.isDone).toBe(false);
    expect(replica.events.length).toBeGreaterThanOrEqual(4);
    replica.lock.fault = undefined;
    await replica.clock.pass(2_100);
    expect(replica.terms).toHaveLength(1);
  });

  it("ends the run with failWhenDenied", async () => {
    const replica = newReplica({ failWhenDenied: true });
    replica.lock.fault = () => denied;
    const done = replica.run();
    await replica.clock.pass(10);
    await expect(done).rejects.toMatchObject({
      code: "Denied",
      message: "Cannot take part in the election of lock in memory: may not get leases.",
    });
    expect(replica.events).toEqual(["error Cannot read lock in memory: may not get leases"]);
    expect([replica.clock.armed, replica.server.watchers]).toEqual([0, 0]);
  });

  it("does not end a term before its deadline, and then ends the run", async () => {
    const replica = await newLeadingReplica({ failWhenDenied: true });
    replica.lock.fault = () => denied;
    await replica.clock.pass(9_900);
    expect([replica.isDone, replica.term.isValid()]).toEqual([false, true]);
    await replica.clock.pass(2_500);
    expect(replica.events).toContain("ended renew-deadline");
    await expect(replica.done).rejects.toMatchObject({ code: "Denied" });
  });
});

describe("a lock that an operator deletes", () => {
  it("ends the term at once; another candidate waits until the old lease would have expired", async () => {
    const server = new MemoryServer(new VirtualClock());
    const first = await newLeadingReplica({ server });
    const second = newReplica({ identity: "b", server });
    second.run();
    await server.clock.pass(100);
    server.delete();
    await server.clock.pass(2);
    expect(first.term.signal.aborted).toBe(true);
    await server.clock.pass(10);
    expect(server.holder).toBe("a");
    expect(second.terms).toEqual([]);
    expect(BigInt(first.terms[1]?.token ?? 0)).toBeGreaterThan(BigInt(first.term.token));
  });

  it("makes a candidate wait one leaseDuration with waitWhenAbsent", async () => {
    const replica = newReplica({ waitWhenAbsent: true });
    replica.run();
    await replica.clock.pass(14_900);
    expect(replica.terms).toEqual([]);
    await replica.clock.pass(200);
    expect(replica.terms).toHaveLength(1);
  });
});

describe("a lock whose holder an operator clears", () => {
  it("ends the term, and is acquired only after the old lease would have expired", async () => {
    const server = new MemoryServer(new VirtualClock());
    await newLeadingReplica({ server });
    const other = newReplica({ identity: "b", server });
    other.run();
    await server.clock.pass(100);
    server.put(recordOf("", { leaseDurationSeconds: 15 }));
    await server.clock.pass(14_900);
    expect(other.terms).toEqual([]);
    await server.clock.pass(200);
    expect(server.holder).not.toBe("");
  });
});
