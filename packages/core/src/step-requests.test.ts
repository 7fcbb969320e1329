/** Late, missing and contradictory answers, and that none of them causes a tight loop. */
import { describe, expect, it } from "vitest";
import { annotated, held, released, type view } from "./testing/records.ts";
import {
  leading,
  ofType,
  type Respond,
  TestCandidate,
  types,
  verbs,
  waiting,
} from "./testing/test-candidate.ts";
import type { Answer } from "./types.ts";

describe("requests and answers", () => {
  it("a request without an answer times out and is retried", () => {
    const candidate = new TestCandidate();
    candidate.start();
    expect(candidate.wait(2_500)).toEqual([
      { type: "cancel", id: 1 },
      {
        type: "failed",
        during: "read",
        failure: { kind: "timeout", message: "the API server did not respond in time" },
      },
    ]);
    expect(types(candidate.wait(75))).toEqual(["read"]);
  });

  it("a late answer counts if it shows the lock, and does not end the request in flight", () => {
    const candidate = new TestCandidate();
    candidate.start();
    candidate.wait(2_600);
    candidate.answer({ kind: "found", view: held(7) }, 1);
    expect(candidate.leader).toBe("b");
    expect(candidate.request?.id).toBe(2);
  });

  it.each<[string, Answer]>([
    ["absent", { kind: "absent" }],
    ["conflict", { kind: "conflict" }],
    ["failure", { kind: "failed", failure: { kind: "server", message: "" } }],
  ])("a late %s is ignored", (_what, answer) => {
    const candidate = leading();
    const before = candidate.state;
    expect(candidate.answer(answer, 1)).toEqual([]);
    expect(candidate.state).toEqual(before);
  });

  it('an "absent" answer is ignored if the lock was seen after the request was sent', () => {
    const candidate = leading();
    candidate.wait(3_000);
    candidate.observed(annotated(2, candidate.committed(1, ofType(candidate.effects, "write")[0])));
    expect(types(candidate.absent())).toEqual(["read"]);
    expect(candidate.phase).toBe("leading");
  });

  it.each([
    [64, "is recognised as our own", undefined],
    [65, "is treated as another process's", "a"],
  ])("the first of %d unanswered writes, when it is found in the lock, %s", (count, _what, leader) => {
    const candidate = waiting(released(7));
    const [first] = ofType(candidate.effects, "write");
    for (let n = 1; n < count; n++) {
      candidate.failed();
      candidate.freeze(2_000);
      candidate.tick();
    }
    expect(ofType(candidate.effects, "write")).toHaveLength(count);
    candidate.observed(candidate.committed(8, first));
    expect(candidate.leader).toBe(leader);
  });

  it("a stop does not cancel the read of a leader, which still has to renew", () => {
    const candidate = leading();
    candidate.wait(3_000);
    candidate.conflict();
    expect(candidate.request?.type).toBe("read");
    expect(types(candidate.stop())).toEqual(["term-ending"]);
  });

  it("401 and 403 are retried, or with failWhenDenied end the campaign", () => {
    const patient = new TestCandidate();
    patient.start();
    expect(types(patient.failed("denied"))).toEqual(["failed"]);
    const strict = new TestCandidate({ failWhenDenied: true });
    strict.start();
    expect(strict.failed("denied")).toMatchObject([
      { type: "failed" },
      { type: "refused", reason: "denied", message: "it was denied" },
    ]);
    expect(strict.phase).toBe("idle");
    expect(types(strict.stop())).toEqual(["stopped"]);
  });

  it.each(["unreachable", "timeout", "throttled", "server"] as const)(
    "a failure of the kind %s does not end the campaign, even with failWhenDenied",
    (kind) => {
      const strict = new TestCandidate({ failWhenDenied: true });
      strict.start();
      expect(types(strict.failed(kind))).toEqual(["failed"]);
      expect(strict.phase).toBe("campaigning");
    },
  );

  it("a leader is not refused: its term ends only by its renew deadline", () => {
    const candidate = leading({ failWhenDenied: true });
    candidate.wait(3_000);
    expect(types(candidate.failed("denied"))).toEqual(["failed"]);
    expect(candidate.phase).toBe("leading");
  });
});

describe("the watch", () => {
  it("counts its silence from when it comes up", () => {
    const candidate = waiting(held(7));
    candidate.wait(1_000);
    candidate.watchUp();
    expect(candidate.nextWakeMs).toBe(6_000);
  });

  it("that reports an unknown change makes the candidate read, and is not up because of it", () => {
    const candidate = waiting(held(7));
    candidate.wait(1_000);
    expect(types(candidate.send({ type: "changed" }))).toEqual(["read"]);
    expect(candidate.state.watchUp).toBe(false);
    candidate.random = 0.75;
    candidate.send({ type: "changed" });
    candidate.found(released(8));
    expect(candidate.state.phase).toMatchObject({ staggerMs: 1 });
  });

  it("that reports an unknown change makes a leader read before it renews", () => {
    const candidate = leading();
    expect(types(candidate.send({ type: "changed" }))).toEqual(["read"]);
    expect(types(candidate.found(held(2, "b")))).toContain("term-lost");
  });

  it("that reports an unknown change during a read makes the candidate read again", () => {
    for (const seen of [held(7), held(8)]) {
      const candidate = waiting(held(7));
      candidate.wait(2_000);
      candidate.send({ type: "changed" });
      expect(types(candidate.found(seen))).toEqual(["read"]);
      expect(types(candidate.found(seen))).toEqual([]);
    }
  });
});

/** A round trip takes one millisecond here, so a tight loop would send hundreds of requests a second. */
describe("no answer causes a tight loop", () => {
  const found = (of: ReturnType<typeof view>): Answer => ({ kind: "found", view: of });
  const leader = leading();
  const acquired = leader.committed(1);
  it.each<[string, TestCandidate, Respond]>([
    [
      "a lock that does not exist and cannot be created, because its namespace is missing",
      new TestCandidate(),
      () => ({ kind: "absent" }),
    ],
    [
      "a lock that does not exist, but a create conflicts",
      new TestCandidate(),
      (request) => (request.type === "read" ? { kind: "absent" } : { kind: "conflict" }),
    ],
    [
      "a lock that conflicts with every write",
      new TestCandidate(),
      (request) => (request.type === "read" ? found(released(7)) : { kind: "conflict" }),
    ],
    ["a server that returns an older version than was seen", waiting(held(7)), () => found(held(6))],
    ["a server that ignores writes", waiting(released(7)), () => found(released(7))],
    ["a server that ignores a leader's renewals", leader, () => found(acquired)],
    [
      "a server that denies everything",
      new TestCandidate(),
      () => ({ kind: "failed", failure: { kind: "denied", message: "" } }),
    ],
  ])("%s", (_what, candidate, respond) => {
    if (candidate.phase === "idle") candidate.start();
    candidate.watchUp();
    const requests = verbs(candidate.run(60_000, respond)).length;
    expect(requests).toBeLessThan(60 * 6);
    expect(requests).toBeGreaterThan(10);
  });

  it("the lock is read after a write was ignored", () => {
    const candidate = waiting(released(7));
    expect(types(candidate.found(released(7)))).toEqual(["read"]);
  });

  it("the lock is read again after a 404 for an update, if its deletion was already seen", () => {
    const candidate = waiting(released(7));
    candidate.deleted(8);
    expect(types(candidate.absent())).toEqual(["read"]);
  });

  it("the failure of a create says what is missing", () => {
    const candidate = new TestCandidate();
    candidate.start();
    candidate.absent();
    expect(ofType(candidate.absent(), "failed")).toMatchObject([
      {
        during: "acquire",
        failure: { message: "cannot create the lock: its namespace or parent object does not exist" },
      },
    ]);
  });
});
