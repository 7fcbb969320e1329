/** Known weaknesses of client-go's leader election, and that tenure does not share them. */
import { describe, expect, it } from "vitest";
import { LockServer } from "./testing/lock-server.ts";
import { held, released } from "./testing/records.ts";
import { failure, leading, ofType, TestCandidate, types, waiting } from "./testing/test-candidate.ts";
import { resolveTimings } from "./timings.ts";

describe("client-go counts its renew deadline from the acknowledgement and does not check it against the lease", () => {
  it("tenure counts from when the write was sent, so a late acknowledgement gives no extra time", () => {
    const candidate = leading();
    candidate.wait(3_000);
    candidate.freeze(2_400);
    candidate.ack(2);
    const renewDeadlineMs = 3_000 + 10_000;
    candidate.run(renewDeadlineMs - candidate.monoMs - 1, () => ({ kind: "failed", failure: failure() }));
    expect(candidate.phase).toBe("leading");
    candidate.wait(1);
    expect(candidate.phase).toBe("lost");
  });

  it("tenure rejects 15s/14.9s, with which a lost term could overlap with the next", () => {
    expect(() => resolveTimings({ leaseDuration: "15s", renewDeadline: "14.9s" })).toThrow("hard deadline");
  });
});

describe("client-go releases the lock before the work is told to stop", () => {
  it("tenure releases only after the work has stopped, however long that takes", () => {
    const candidate = leading();
    const server = new LockServer(candidate.committed(1));
    candidate.stop();
    candidate.run(60_000, server.answer);
    expect(ofType(candidate.effects, "write").map(({ purpose }) => purpose)).not.toContain("release");
    expect(server.lock?.record.holderIdentity).toBe("a");
    candidate.workStopped();
    candidate.run(10, server.answer);
    expect(server.lock?.record.holderIdentity).toBe("");
  });
});

describe("a release of client-go can clear another holder's lock", () => {
  it("tenure releases only over its own record", () => {
    const candidate = leading();
    const server = new LockServer(candidate.committed(1));
    server.put(held(2, "b").record);
    candidate.workStopped();
    candidate.run(1_000, server.answer);
    expect(server.lock?.record.holderIdentity).toBe("b");
    expect(ofType(candidate.effects, "term-ended")).toMatchObject([{ released: false }]);
  });

  it("tenure does not release after a partition in which the term was lost", () => {
    const candidate = leading();
    const server = new LockServer(candidate.committed(1));
    candidate.wait(16_000);
    server.put(held(2, "b").record);
    candidate.workStopped();
    candidate.run(5_000, server.answer);
    expect(server.lock?.record.holderIdentity).toBe("b");
  });
});

describe("in client-go another holder does not end the term, which can even be resumed later", () => {
  it("tenure ends the term when it sees another holder", () => {
    const candidate = leading();
    expect(types(candidate.observed(held(2, "b")))).toContain("term-lost");
    expect(candidate.mayWork).toBe(false);
  });

  it("tenure starts a new term with a new token even if that holder releases at once", () => {
    const candidate = leading();
    candidate.observed(held(2, "b"));
    candidate.observed(released(3));
    expect(candidate.phase).toBe("lost");
    candidate.workStopped();
    candidate.wait(10);
    candidate.ack(4);
    expect(ofType(candidate.effects, "term-started").map(({ token }) => token)).toEqual([1n, 4n]);
  });
});

describe("client-go compares times by the second, and truncates durations to seconds", () => {
  it("tenure compares microseconds: a renewal within the same second restarts the wait", () => {
    const lease = (micros: string) => ({
      leaseDurationSeconds: 1,
      renewTime: `2030-01-01T00:00:00.${micros}Z`,
    });
    const candidate = waiting(held(7, "b", lease("000001")));
    candidate.freeze(900);
    const renewed = held(8, "b", lease("900001"));
    candidate.observed(renewed);
    candidate.run(990, () => ({ kind: "found", view: renewed }));
    expect(ofType(candidate.effects, "write")).toEqual([]);
  });

  it("tenure rejects a lease duration that is not in whole seconds", () => {
    expect(() =>
      resolveTimings({ leaseDuration: "1.5s", renewDeadline: "1s", retryPeriod: "100ms" }),
    ).toThrow("whole seconds");
  });
});

describe("leaseTransitions is not a fencing token", () => {
  it("the token grows across a deletion, which resets leaseTransitions", () => {
    const candidate = new TestCandidate();
    const server = new LockServer(released(7, { leaseTransitions: 5 }));
    candidate.start();
    candidate.run(10, server.answer);
    expect(server.lock?.record.leaseTransitions).toBe(6);
    server.delete();
    candidate.run(5_000, server.answer);
    candidate.workStopped();
    candidate.run(10, server.answer);
    expect(server.lock?.record.leaseTransitions).toBe(0);
    const tokens = ofType(candidate.effects, "term-started").map(({ token }) => token);
    expect(tokens).toEqual([8n, 10n]);
  });

  it("the token grows across a restart with the same identity, which keeps leaseTransitions", () => {
    const server = new LockServer(released(7));
    const tokens: bigint[] = [];
    for (let incarnation = 0; incarnation < 2; incarnation++) {
      const candidate = new TestCandidate();
      candidate.random = incarnation / 2;
      candidate.start();
      candidate.run(16_000, server.answer);
      tokens.push(...ofType(candidate.effects, "term-started").map(({ token }) => token));
    }
    expect(server.lock?.record.leaseTransitions).toBe(1);
    expect(tokens).toHaveLength(2);
    expect(tokens[1]).toBeGreaterThan(tokens[0] ?? 0n);
  });
});
