/** Another process has the same identity as this candidate. */
import { describe, expect, it } from "vitest";
import { annotated, held, record, released, view } from "./testing/records.ts";
import { leading, ofType, type Respond, TestCandidate, types, waiting } from "./testing/test-candidate.ts";

describe("a record with our identity that this process did not write", () => {
  it("must expire like any other record: a restart begins a new term", () => {
    const candidate = waiting(held(7, "a", { leaseTransitions: 3 }));
    candidate.watchUp();
    expect(
      ofType(
        candidate.run(14_999, () => ({ kind: "found", view: held(7, "a", { leaseTransitions: 3 }) })),
        "write",
      ),
    ).toEqual([]);
    candidate.wait(1);
    expect(types(candidate.ack(8))).toContain("term-started");
    expect(candidate.state.phase).toMatchObject({ term: { token: 8n } });
  });

  it("does not count as a transition, as in client-go", () => {
    const candidate = waiting(held(7, "a", { leaseTransitions: 3 }));
    candidate.freeze(15_000);
    candidate.tick();
    expect(candidate.lastWrite.record.leaseTransitions).toBe(3);
  });
});

describe("a duplicate identity", () => {
  it("is proved by the second renewal, and this candidate is refused", () => {
    const candidate = waiting(held(7, "a"));
    expect(types(candidate.observed(held(8, "a")))).toEqual([]);
    const effects = candidate.observed(held(9, "a"));
    expect(effects).toEqual([
      {
        type: "refused",
        reason: "duplicate-identity",
        message:
          'another live process holds the lock with the same identity "a"; ' +
          "give each replica a unique identity, for example its pod name",
      },
    ]);
    expect(candidate.phase).toBe("idle");
    expect(candidate.nextWakeMs).toBe(Number.POSITIVE_INFINITY);
  });

  it("is not proved by one renewal, which may have been sent before its process died", () => {
    const candidate = waiting(held(7, "a"));
    candidate.observed(held(8, "a"));
    candidate.wait(60_000);
    expect(ofType(candidate.effects, "refused")).toEqual([]);
  });

  it("is not proved by annotations", () => {
    const candidate = waiting(held(7, "a"));
    for (const revision of [8, 9, 10]) candidate.observed(annotated(revision, held(7, "a")));
    expect(candidate.phase).toBe("campaigning");
  });

  it("is not proved if another candidate held the lock in between", () => {
    const candidate = waiting(held(7, "a"));
    candidate.observed(held(8, "a"));
    candidate.observed(held(9, "b"));
    candidate.observed(held(10, "a"));
    candidate.observed(held(11, "a"));
    expect(candidate.phase).toBe("campaigning");
    candidate.observed(held(12, "a"));
    expect(candidate.phase).toBe("idle");
  });

  it("is not proved by a different lock object with our identity", () => {
    const candidate = waiting(held(7, "a"));
    candidate.observed(held(8, "a"));
    candidate.observed(view(9, record({ holderIdentity: "a", renewTime: "then" }), "lock-2"));
    expect(candidate.phase).toBe("campaigning");
  });

  it("is not proved by writes of this process", () => {
    const candidate = new TestCandidate();
    candidate.start();
    candidate.found(released(7));
    candidate.ack(8);
    for (const revision of [9, 10, 11]) {
      candidate.wait(3_000);
      candidate.ack(revision);
    }
    candidate.wait(10_000);
    candidate.workStopped();
    expect(candidate.request).toMatchObject({ purpose: "acquire" });
    candidate.ack(12);
    expect(candidate.phase).toBe("leading");
  });

  it("ends the term when it overwrites a leader, and refuses the candidate only once it is proved", () => {
    const candidate = leading();
    expect(ofType(candidate.observed(held(2, "a")), "term-lost")).toMatchObject([{ reason: "overwritten" }]);
    candidate.workStopped();
    candidate.observed(held(3, "a"));
    expect(candidate.phase).toBe("campaigning");
    candidate.observed(held(4, "a"));
    expect(candidate.phase).toBe("idle");
  });

  it("cancels the request in flight when it is proved", () => {
    const candidate = waiting(held(7, "a"));
    candidate.observed(held(8, "a"));
    candidate.wait(2_000);
    expect(types(candidate.observed(held(9, "a")))).toEqual(["cancel", "refused"]);
  });
});

describe("two processes with one identity that start in the same millisecond", () => {
  it("write different records for all but one in a million pairs of random numbers", () => {
    const acquire = (random: number) => {
      const candidate = new TestCandidate();
      candidate.random = random;
      candidate.start();
      candidate.absent();
      candidate.wait(10);
      return candidate.lastWrite.record;
    };
    // The same last three digits of renewTime: only the rest of the random number tells the two apart.
    const [first, second] = [acquire(0.1234565), acquire(0.1234575)];
    expect(first.renewTime).toBe(second.renewTime);
    expect(first.acquireTime).not.toBe(second.acquireTime);
  });
});

describe("a candidate after outages that each began with a committed renewal it did not learn of", () => {
  /** Longer than the candidate remembers its own writes. */
  const outageMs = 10 * 60_000;

  it("is not taken for its own duplicate", () => {
    const candidate = leading();
    let lock = candidate.committed(10);
    const serve: Respond = (request) => {
      if (request.type === "read") return { kind: "found", view: lock };
      if (request.type === "accept" || request.over?.version !== lock.version) return { kind: "conflict" };
      lock = candidate.committed(lock.revision + 1n, request);
      return { kind: "found", view: lock };
    };
    const outage: Respond = () => ({ kind: "failed", failure: { kind: "unreachable", message: "outage" } });
    candidate.observed(lock);
    for (let outages = 0; outages < 3; outages++) {
      candidate.run(30_000, serve);
      expect(candidate.phase).toBe("leading");
      // The answer to the next renewal is lost after the commit.
      candidate.run(3_500, (request) => void serve(request));
      candidate.run(11_000, outage);
      candidate.workStopped();
      candidate.run(outageMs, outage);
    }
    candidate.run(60_000, serve);
    expect(ofType(candidate.effects, "refused")).toEqual([]);
    expect(candidate.phase).toBe("leading");
  });
});
