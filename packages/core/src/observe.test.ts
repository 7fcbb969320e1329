/** What follows from a view of the lock. */
import { describe, expect, it } from "vitest";
import { annotated, held, released } from "./testing/records.ts";
import { leading, ofType, TestCandidate, types, waiting } from "./testing/test-candidate.ts";

describe("old and repeated news", () => {
  it("an older revision changes only the time of the last contact", () => {
    const candidate = waiting(held(7));
    const { lock } = candidate.state;
    candidate.freeze(1_000);
    candidate.observed(released(6));
    expect(candidate.state.lock).toBe(lock);
    expect(candidate.state.lastContactMs).toBe(1_000);
    expect(candidate.leader).toBe("b");
  });

  it("the same version does not restart the wait for the holder", () => {
    const candidate = waiting(held(7));
    candidate.freeze(1_000);
    candidate.observed(held(7));
    expect(candidate.state.lock).toMatchObject({ sinceMs: 0 });
    expect(candidate.state.lastContactMs).toBe(1_000);
  });

  it('the same revision counts again after an "absent" answer, which has no revision to compare with', () => {
    const candidate = waiting(held(7));
    candidate.wait(2_000);
    candidate.absent();
    candidate.observed(held(7));
    expect(candidate.leader).toBe("b");
  });

  it("a renewal restarts the wait", () => {
    const candidate = waiting(held(7));
    candidate.freeze(1_000);
    candidate.observed(held(8));
    expect(candidate.state.lock).toMatchObject({ sinceMs: 1_000 });
  });

  it("a change of metadata does not restart the wait, so that it cannot keep a dead leader in office", () => {
    const candidate = waiting(held(7));
    candidate.watchUp();
    for (const revision of [8, 9, 10]) {
      const lock = annotated(revision, held(7));
      candidate.observed(lock);
      candidate.run(5_010, (request) =>
        request.type === "read" ? { kind: "found", view: lock } : undefined,
      );
    }
    expect(ofType(candidate.effects, "write")).toMatchObject([
      { purpose: "acquire", over: { version: "10" } },
    ]);
  });

  it("a deletion may carry the last revision of the lock instead of a new one", () => {
    const candidate = waiting(held(7));
    candidate.deleted(7);
    expect(candidate.state.lock.kind).toBe("absent");
  });

  it("a late deletion of an earlier lock is ignored", () => {
    const candidate = waiting(held(7));
    candidate.deleted(6);
    expect(candidate.state.lock.kind).toBe("present");
  });

  it("a lock with a lower revision than its deletion is ignored, and a newer one is not", () => {
    const candidate = waiting(held(7));
    candidate.deleted(9);
    candidate.observed(held(8));
    expect(candidate.state.lock.kind).toBe("absent");
    candidate.observed(held(10, "c"));
    expect(candidate.leader).toBe("c");
  });
});

describe("while leading", () => {
  it("a view of our own renewal extends the term from when the renewal was sent", () => {
    const candidate = leading();
    candidate.wait(3_000);
    candidate.freeze(400);
    expect(types(candidate.ack(2))).toEqual(["renewed"]);
    expect(candidate.state.phase).toMatchObject({ term: { sent: { monoMs: 3_000 }, token: 1n } });
  });

  it("the watch may show the renewal before its answer arrives", () => {
    const candidate = leading();
    candidate.wait(3_000);
    expect(types(candidate.observed(candidate.committed(2)))).toEqual(["renewed"]);
    expect(types(candidate.ack(2))).toEqual([]);
    expect(candidate.phase).toBe("leading");
  });

  it("another holder ends the term at once, and no work may run", () => {
    const candidate = leading();
    expect(candidate.observed(held(2, "b"))).toEqual([
      { type: "term-lost", reason: "taken-over" },
      { type: "term-expired" },
      { type: "leader-changed", leader: "b" },
    ]);
    expect(candidate.mayWork).toBe(false);
  });

  it("an emptied lock ends the term at once", () => {
    const candidate = leading();
    expect(ofType(candidate.observed(released(2)), "term-lost")).toMatchObject([{ reason: "taken-over" }]);
    expect(candidate.mayWork).toBe(false);
  });

  it("our identity in a record that this process did not write ends the term at once", () => {
    const candidate = leading();
    expect(ofType(candidate.observed(held(2, "a")), "term-lost")).toMatchObject([{ reason: "overwritten" }]);
    expect(candidate.mayWork).toBe(false);
  });

  it("a change of metadata does not end the term, and the next renewal is written over it", () => {
    const candidate = leading();
    candidate.observed(annotated(2, candidate.committed(1)));
    expect(candidate.phase).toBe("leading");
    candidate.wait(3_000);
    expect(candidate.request).toMatchObject({ purpose: "renew", over: { version: "2" } });
    candidate.ack(3);
    expect(types(candidate.observed(annotated(4, candidate.committed(3))))).toEqual([]);
    expect(candidate.state.phase).toMatchObject({ name: "leading", term: { sent: { monoMs: 3_000 } } });
  });

  it("a deletion ends the term at once", () => {
    for (const source of ["watch", "answer"]) {
      const candidate = leading();
      candidate.wait(3_000);
      const effects = source === "watch" ? candidate.deleted(2) : candidate.absent();
      expect(ofType(effects, "term-lost")).toEqual([{ type: "term-lost", reason: "lock-deleted" }]);
      expect(candidate.mayWork).toBe(false);
    }
  });

  it("a new lock with the same name ends the term, even with a copy of our record", () => {
    const candidate = leading();
    candidate.wait(3_000);
    candidate.ack(2);
    const copied = { ...candidate.committed(3), uid: "another lock" };
    expect(ofType(candidate.observed(copied), "term-lost")).toMatchObject([{ reason: "overwritten" }]);
    expect(candidate.mayWork).toBe(false);
  });

  it("the same applies while draining", () => {
    const candidate = leading();
    candidate.stepDown();
    expect(ofType(candidate.observed(held(2, "b")), "term-lost")).toHaveLength(1);
    expect(candidate.phase).toBe("lost");
    const other = leading();
    other.stepDown();
    expect(ofType(other.deleted(2), "term-lost")).toMatchObject([{ reason: "lock-deleted" }]);
  });

  it("a renewal that is confirmed after the hard deadline does not extend the term", () => {
    const candidate = leading();
    candidate.wait(3_000);
    candidate.freeze(11_750);
    expect(types(candidate.ack(2))).toEqual(["term-lost", "term-expired", "overrun", "leader-changed"]);
    expect(candidate.mayWork).toBe(false);
  });

  it("a renewal that is confirmed between the renew deadline and the hard deadline extends the term", () => {
    const candidate = leading();
    candidate.wait(3_000);
    candidate.freeze(9_000);
    expect(types(candidate.ack(2))).toEqual(["renewed", "write"]);
    expect(candidate.phase).toBe("leading");
    expect(candidate.mayWork).toBe(true);
  });
});

describe("after the term was lost", () => {
  it("a view of our own late renewal does not restore the term", () => {
    const candidate = leading();
    candidate.wait(10_000);
    expect(candidate.phase).toBe("lost");
    expect(types(candidate.observed(candidate.committed(2)))).not.toContain("renewed");
    expect(candidate.phase).toBe("lost");
  });

  it("another holder ends the time that the work had left to stop", () => {
    const candidate = leading();
    candidate.wait(10_000);
    expect(candidate.mayWork).toBe(true);
    candidate.observed(held(2, "b"));
    expect(candidate.mayWork).toBe(false);
  });

  it("the deletion of the lock ends it, too", () => {
    const candidate = leading();
    candidate.wait(10_000);
    candidate.deleted(2);
    expect(candidate.mayWork).toBe(false);
  });

  it("a new lock with a copy of our record ends it, too", () => {
    const candidate = leading();
    candidate.wait(10_000);
    candidate.observed({ ...candidate.committed(3), uid: "another lock" });
    expect(candidate.mayWork).toBe(false);
  });

  it("an annotation or our own late renewal does not end it", () => {
    const candidate = leading();
    candidate.wait(10_000);
    candidate.observed(candidate.committed(2));
    expect(candidate.mayWork).toBe(true);
    candidate.observed(annotated(3, candidate.committed(2)));
    expect(candidate.mayWork).toBe(true);
  });
});

describe("while campaigning", () => {
  it("our own acquisition starts a term, and its revision is the token", () => {
    const candidate = new TestCandidate();
    candidate.start();
    candidate.absent();
    candidate.freeze(40);
    expect(candidate.ack(12)).toEqual([
      { type: "term-started", token: 12n },
      { type: "leader-changed", leader: "a" },
    ]);
    expect(candidate.state.phase).toMatchObject({
      term: { sent: { monoMs: 0 }, token: 12n, leaseTransitions: 0 },
    });
  });

  it("an acquisition that is confirmed after its renew deadline starts no term and is repeated over its own record", () => {
    const candidate = new TestCandidate();
    candidate.start();
    candidate.absent();
    candidate.freeze(10_000);
    const effects = candidate.ack(1);
    expect(types(effects)).toEqual(["write"]);
    expect(candidate.lastWrite).toMatchObject({ purpose: "acquire", over: { version: "1" } });
    candidate.ack(2);
    expect(candidate.state.phase).toMatchObject({
      name: "leading",
      term: { token: 2n, leaseTransitions: 0 },
    });
  });

  it("an acquisition that is confirmed just before its renew deadline starts a term", () => {
    const candidate = new TestCandidate();
    candidate.start();
    candidate.absent();
    candidate.freeze(9_999);
    expect(types(candidate.ack(1))).toContain("term-started");
  });

  it("an acquisition of an earlier campaign starts no term", () => {
    const candidate = leading();
    const first = candidate.committed(1);
    candidate.deleted(2);
    candidate.workStopped();
    expect(candidate.request).toMatchObject({ purpose: "acquire", over: undefined });
    expect(types(candidate.observed({ ...first, version: "3", revision: 3n }))).not.toContain("term-started");
  });

  it("an acquisition that was in flight during a stop and a start starts no term", () => {
    const candidate = new TestCandidate();
    candidate.start();
    candidate.absent();
    candidate.stop();
    candidate.wait(2_500);
    candidate.start();
    candidate.wait(100);
    expect(types(candidate.found(candidate.committed(1)))).toEqual(["write"]);
    expect(types(candidate.ack(2))).toContain("term-started");
  });

  it("an acquisition that was sent before another holder was seen starts no term, and that holder has a full lease", () => {
    const candidate = new TestCandidate();
    candidate.start();
    candidate.absent();
    const ours = candidate.lastWrite;
    candidate.freeze(500);
    candidate.observed(held(5, "b"));
    candidate.deleted(6);
    candidate.freeze(500);
    const late = { ...candidate.committed(7, ours), uid: "created late" };
    expect(types(candidate.found(late))).not.toContain("term-started");
    expect(
      ofType(
        candidate.run(14_400, () => ({ kind: "found", view: late })),
        "write",
      ),
    ).toEqual([]);
    expect(ofType(candidate.wait(200), "write")).toMatchObject([
      { purpose: "acquire", over: { version: "7" } },
    ]);
  });

  it("the same applies if the deletion in between was not seen", () => {
    const candidate = new TestCandidate();
    candidate.start();
    candidate.absent();
    const ours = candidate.lastWrite;
    candidate.observed(held(5, "b"));
    expect(types(candidate.found({ ...candidate.committed(7, ours), uid: "created late" }))).toEqual([
      "leader-changed",
    ]);
  });

  it("an acquisition that a later read did not find starts no term when its answer arrives", () => {
    const candidate = new TestCandidate();
    candidate.start();
    candidate.absent();
    const ours = candidate.lastWrite;
    candidate.wait(2_600);
    candidate.conflict();
    candidate.wait(300);
    candidate.absent();
    expect(
      types(candidate.answer({ kind: "found", view: candidate.committed(5, ours) }, ours.id)),
    ).not.toContain("term-started");
  });
});
