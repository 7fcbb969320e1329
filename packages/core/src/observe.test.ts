/** What follows from a sight of the lock. */
import { describe, expect, it } from "vitest";
import { annotated, held, released } from "./testing/records.ts";
import { leading, ofType, Rig, types, waiting } from "./testing/rig.ts";

describe("a sight that is not news", () => {
  it("an older revision changes nothing but the sign of life", () => {
    const rig = waiting(held(7));
    const { lock } = rig.state;
    rig.freeze(1_000);
    rig.observed(released(6));
    expect(rig.state.lock).toBe(lock);
    expect(rig.state.heardAtMs).toBe(1_000);
    expect(rig.leader).toBe("b");
  });

  it("the same version does not begin the holder's time anew", () => {
    const rig = waiting(held(7));
    rig.freeze(1_000);
    rig.observed(held(7));
    expect(rig.state.lock).toMatchObject({ sinceMs: 0 });
    expect(rig.state.heardAtMs).toBe(1_000);
  });

  it("the same revision again counts after an absence, for an absence has no revision to compare with", () => {
    const rig = waiting(held(7));
    rig.wait(2_000);
    rig.absent();
    rig.observed(held(7));
    expect(rig.leader).toBe("b");
  });

  it("a new version does, also when only its metadata changed", () => {
    const rig = waiting(held(7));
    rig.freeze(1_000);
    rig.observed(annotated(8, held(7)));
    expect(rig.state.lock).toMatchObject({ sinceMs: 1_000 });
  });

  it("a deletion may carry the last revision of the lock instead of its own", () => {
    const rig = waiting(held(7));
    rig.deleted(7);
    expect(rig.state.lock.kind).toBe("absent");
  });

  it("a late deletion of an earlier lock is ignored", () => {
    const rig = waiting(held(7));
    rig.deleted(6);
    expect(rig.state.lock.kind).toBe("present");
  });

  it("a deletion is older than a lock that was made after it", () => {
    const rig = waiting(held(7));
    rig.deleted(9);
    rig.observed(held(8));
    expect(rig.state.lock.kind).toBe("absent");
    rig.observed(held(10, "c"));
    expect(rig.leader).toBe("c");
  });
});

describe("while leading", () => {
  it("the sight of our own renewal extends the right from when it was sent", () => {
    const rig = leading();
    rig.wait(3_000);
    rig.freeze(400);
    expect(types(rig.ack(2))).toEqual(["renewed"]);
    expect(rig.state.phase).toMatchObject({ term: { sent: { monoMs: 3_000 }, token: 1n } });
  });

  it("the watch may tell of it before the answer does", () => {
    const rig = leading();
    rig.wait(3_000);
    expect(types(rig.observed(rig.committed(2)))).toEqual(["renewed"]);
    expect(types(rig.ack(2))).toEqual([]);
    expect(rig.phase).toBe("leading");
  });

  it("another holder ends the term at once, and nothing may run", () => {
    const rig = leading();
    expect(rig.observed(held(2, "b"))).toEqual([
      { type: "term-lost", reason: "taken-over" },
      { type: "term-expired" },
      { type: "leader-changed", leader: "b" },
    ]);
    expect(rig.mayWork).toBe(false);
  });

  it("an emptied lock ends the term at once", () => {
    const rig = leading();
    expect(ofType(rig.observed(released(2)), "term-lost")).toMatchObject([{ reason: "taken-over" }]);
    expect(rig.mayWork).toBe(false);
  });

  it("our own name in a record that this process did not write ends the term at once", () => {
    const rig = leading();
    expect(ofType(rig.observed(held(2, "a")), "term-lost")).toMatchObject([{ reason: "overwritten" }]);
    expect(rig.mayWork).toBe(false);
  });

  it("a change of metadata does not, and the next renewal is written over it", () => {
    const rig = leading();
    rig.observed(annotated(2, rig.committed(1)));
    expect(rig.phase).toBe("leading");
    rig.wait(3_000);
    expect(rig.request).toMatchObject({ purpose: "renew", over: { version: "2" } });
    rig.ack(3);
    expect(types(rig.observed(annotated(4, rig.committed(3))))).toEqual([]);
    expect(rig.state.phase).toMatchObject({ name: "leading", term: { sent: { monoMs: 3_000 } } });
  });

  it("a deletion ends the term at once", () => {
    for (const sight of ["watch", "answer"]) {
      const rig = leading();
      rig.wait(3_000);
      const effects = sight === "watch" ? rig.deleted(2) : rig.absent();
      expect(ofType(effects, "term-lost")).toEqual([{ type: "term-lost", reason: "lock-deleted" }]);
      expect(rig.mayWork).toBe(false);
    }
  });

  it("another lock by the same name ends the term, even when our own record was copied into it", () => {
    const rig = leading();
    rig.wait(3_000);
    rig.ack(2);
    const copied = { ...rig.committed(3), uid: "another lock" };
    expect(ofType(rig.observed(copied), "term-lost")).toMatchObject([{ reason: "overwritten" }]);
    expect(rig.mayWork).toBe(false);
  });

  it("the same holds while the work drains", () => {
    const rig = leading();
    rig.stepDown();
    expect(ofType(rig.observed(held(2, "b")), "term-lost")).toHaveLength(1);
    expect(rig.phase).toBe("lost");
    const other = leading();
    other.stepDown();
    expect(ofType(other.deleted(2), "term-lost")).toMatchObject([{ reason: "lock-deleted" }]);
  });

  it("a renewal that is confirmed after the hard deadline does not bring the right back", () => {
    const rig = leading();
    rig.wait(3_000);
    rig.freeze(11_750);
    expect(types(rig.ack(2))).toEqual(["term-lost", "term-expired", "overrun", "leader-changed"]);
    expect(rig.mayWork).toBe(false);
  });

  it("a renewal that is confirmed before it does, though the soft end has passed meanwhile", () => {
    const rig = leading();
    rig.wait(3_000);
    rig.freeze(9_000);
    expect(types(rig.ack(2))).toEqual(["renewed", "write"]);
    expect(rig.phase).toBe("leading");
    expect(rig.mayWork).toBe(true);
  });
});

describe("after a loss", () => {
  it("a sight of our own late renewal does not win the term back", () => {
    const rig = leading();
    rig.wait(10_000);
    expect(rig.phase).toBe("lost");
    expect(types(rig.observed(rig.committed(2)))).not.toContain("renewed");
    expect(rig.phase).toBe("lost");
  });

  it("somebody else in the lock takes away the time that was left to stop", () => {
    const rig = leading();
    rig.wait(10_000);
    expect(rig.mayWork).toBe(true);
    rig.observed(held(2, "b"));
    expect(rig.mayWork).toBe(false);
  });

  it("the deletion of the lock takes it away too", () => {
    const rig = leading();
    rig.wait(10_000);
    rig.deleted(2);
    expect(rig.mayWork).toBe(false);
  });

  it("another lock takes it away too, though our own record was copied into it", () => {
    const rig = leading();
    rig.wait(10_000);
    rig.observed({ ...rig.committed(3), uid: "another lock" });
    expect(rig.mayWork).toBe(false);
  });

  it("an annotation or our own late renewal does not", () => {
    const rig = leading();
    rig.wait(10_000);
    rig.observed(rig.committed(2));
    expect(rig.mayWork).toBe(true);
    rig.observed(annotated(3, rig.committed(2)));
    expect(rig.mayWork).toBe(true);
  });
});

describe("while campaigning", () => {
  it("our own acquisition starts a term, whose token is its revision", () => {
    const rig = new Rig();
    rig.start();
    rig.absent();
    rig.freeze(40);
    expect(rig.ack(12)).toEqual([
      { type: "term-started", token: 12n },
      { type: "leader-changed", leader: "a" },
    ]);
    expect(rig.state.phase).toMatchObject({ term: { sent: { monoMs: 0 }, token: 12n, leaseTransitions: 0 } });
  });

  it("an acquisition that is confirmed after its soft end starts none, and is repeated over its own record", () => {
    const rig = new Rig();
    rig.start();
    rig.absent();
    rig.freeze(10_000);
    const effects = rig.ack(1);
    expect(types(effects)).toEqual(["write"]);
    expect(rig.lastWrite).toMatchObject({ purpose: "acquire", over: { version: "1" } });
    rig.ack(2);
    expect(rig.state.phase).toMatchObject({ name: "leading", term: { token: 2n, leaseTransitions: 0 } });
  });

  it("one that is confirmed just before it starts one", () => {
    const rig = new Rig();
    rig.start();
    rig.absent();
    rig.freeze(9_999);
    expect(types(rig.ack(1))).toContain("term-started");
  });

  it("an acquisition of an earlier campaign starts none", () => {
    const rig = leading();
    const first = rig.committed(1);
    rig.deleted(2);
    rig.workStopped();
    expect(rig.request).toMatchObject({ purpose: "acquire", over: undefined });
    expect(types(rig.observed({ ...first, version: "3", revision: 3n }))).not.toContain("term-started");
  });

  it("nor does one that was in flight when the candidate was stopped and started again", () => {
    const rig = new Rig();
    rig.start();
    rig.absent();
    rig.stop();
    rig.wait(2_500);
    rig.start();
    rig.wait(100);
    expect(types(rig.found(rig.committed(1)))).toEqual(["write"]);
    expect(types(rig.ack(2))).toContain("term-started");
  });

  it("an acquisition that was sent before somebody else was seen starts none: its holder has its time", () => {
    const rig = new Rig();
    rig.start();
    rig.absent();
    const mine = rig.lastWrite;
    rig.freeze(500);
    rig.observed(held(5, "b"));
    rig.deleted(6);
    rig.freeze(500);
    const late = { ...rig.committed(7, mine), uid: "made by the late creation" };
    expect(types(rig.found(late))).not.toContain("term-started");
    expect(
      ofType(
        rig.run(14_400, () => ({ kind: "found", view: late })),
        "write",
      ),
    ).toEqual([]);
    expect(ofType(rig.wait(200), "write")).toMatchObject([{ purpose: "acquire", over: { version: "7" } }]);
  });

  it("the same when the deletion in between was not seen", () => {
    const rig = new Rig();
    rig.start();
    rig.absent();
    const mine = rig.lastWrite;
    rig.observed(held(5, "b"));
    expect(types(rig.found({ ...rig.committed(7, mine), uid: "made by the late creation" }))).toEqual([
      "leader-changed",
    ]);
  });

  it("an acquisition that a later read did not find starts none when its answer comes at last", () => {
    const rig = new Rig();
    rig.start();
    rig.absent();
    const mine = rig.lastWrite;
    rig.wait(2_600);
    rig.conflict();
    rig.wait(300);
    rig.absent();
    expect(types(rig.answer({ kind: "found", view: rig.committed(5, mine) }, mine.id))).not.toContain(
      "term-started",
    );
  });
});
