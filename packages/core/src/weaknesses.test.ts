/** The weaknesses of client-go's election (W1 to W6 of its semantics), each shown not to be shared. */
import { describe, expect, it } from "vitest";
import { held, released } from "./testing/records.ts";
import { failure, leading, ofType, Rig, types, waiting } from "./testing/rig.ts";
import { LockServer } from "./testing/server.ts";
import { resolveTimings } from "./timings.ts";

describe("W1: the budget counts from the acknowledgement and is not checked against the lease", () => {
  it("ours counts from the sending: a late acknowledgement gives no more time", () => {
    const rig = leading();
    rig.wait(3_000);
    rig.freeze(2_400);
    rig.ack(2);
    const softEndMs = 3_000 + 10_000;
    rig.run(softEndMs - rig.monoMs - 1, () => ({ kind: "failed", failure: failure() }));
    expect(rig.phase).toBe("leading");
    rig.wait(1);
    expect(rig.phase).toBe("lost");
  });

  it("ours is checked: 15/14.9 would let a lost term run into the next one", () => {
    expect(() => resolveTimings({ leaseDuration: "15s", renewDeadline: "14.9s" })).toThrow("hard deadline");
  });
});

describe("W2: the lock is released before the work is told to stop", () => {
  it("ours is released only after the work has stopped, however long that takes", () => {
    const rig = leading();
    const server = new LockServer(rig.committed(1));
    rig.stop();
    rig.run(60_000, server.answer);
    expect(ofType(rig.effects, "write").map(({ purpose }) => purpose)).not.toContain("release");
    expect(server.lock?.record.holderIdentity).toBe("a");
    rig.workStopped();
    rig.run(10, server.answer);
    expect(server.lock?.record.holderIdentity).toBe("");
  });
});

describe("W3: a release can clear another holder's lock", () => {
  it("ours is written over our own record only", () => {
    const rig = leading();
    const server = new LockServer(rig.committed(1));
    server.put(held(2, "b").record);
    rig.workStopped();
    rig.run(1_000, server.answer);
    expect(server.lock?.record.holderIdentity).toBe("b");
    expect(ofType(rig.effects, "term-ended")).toMatchObject([{ released: false }]);
  });

  it("nor after a partition, when the term was lost by its deadline", () => {
    const rig = leading();
    const server = new LockServer(rig.committed(1));
    rig.wait(16_000);
    server.put(held(2, "b").record);
    rig.workStopped();
    rig.run(5_000, server.answer);
    expect(server.lock?.record.holderIdentity).toBe("b");
  });
});

describe("W4: another holder does not end the term, which may even be won back in silence", () => {
  it("ours ends at the first sight of another holder", () => {
    const rig = leading();
    expect(types(rig.observed(held(2, "b")))).toContain("term-lost");
    expect(rig.mayWork).toBe(false);
  });

  it("and what follows when that holder lets go at once is another term with another token", () => {
    const rig = leading();
    rig.observed(held(2, "b"));
    rig.observed(released(3));
    expect(rig.phase).toBe("lost");
    rig.workStopped();
    rig.wait(10);
    rig.ack(4);
    expect(ofType(rig.effects, "term-started").map(({ token }) => token)).toEqual([1n, 4n]);
  });
});

describe("W5: changes are seen by the second, and durations are cut to seconds", () => {
  it("ours sees every version: a renewal within the same second begins the holder's time anew", () => {
    const lease = { leaseDurationSeconds: 1, renewTime: "2030-01-01T00:00:00Z" };
    const rig = waiting(held(7, "b", lease));
    rig.freeze(900);
    rig.observed(held(8, "b", lease));
    rig.run(990, () => ({ kind: "found", view: held(8, "b", lease) }));
    expect(ofType(rig.effects, "write")).toEqual([]);
  });

  it("ours refuses a lease that is not whole seconds", () => {
    expect(() =>
      resolveTimings({ leaseDuration: "1.5s", renewDeadline: "1s", retryPeriod: "100ms" }),
    ).toThrow("whole seconds");
  });
});

describe("W6: leaseTransitions is no fencing token", () => {
  it("ours grows over a deletion, which resets leaseTransitions", () => {
    const rig = new Rig();
    const server = new LockServer(released(7, { leaseTransitions: 5 }));
    rig.start();
    rig.run(10, server.answer);
    expect(server.lock?.record.leaseTransitions).toBe(6);
    server.delete();
    rig.run(5_000, server.answer);
    rig.workStopped();
    rig.run(10, server.answer);
    expect(server.lock?.record.leaseTransitions).toBe(0);
    const tokens = ofType(rig.effects, "term-started").map(({ token }) => token);
    expect(tokens).toEqual([8n, 10n]);
  });

  it("ours grows over a restart with the same identity, which keeps leaseTransitions", () => {
    const server = new LockServer(released(7));
    const tokens: bigint[] = [];
    for (let incarnation = 0; incarnation < 2; incarnation++) {
      const rig = new Rig();
      rig.random = incarnation / 2;
      rig.start();
      rig.run(16_000, server.answer);
      tokens.push(...ofType(rig.effects, "term-started").map(({ token }) => token));
    }
    expect(server.lock?.record.leaseTransitions).toBe(1);
    expect(tokens).toHaveLength(2);
    expect(tokens[1]).toBeGreaterThan(tokens[0] ?? 0n);
  });
});
