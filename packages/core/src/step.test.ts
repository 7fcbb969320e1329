/** Start, stop, release, clock jumps, and the records that are written. */
import { describe, expect, it } from "vitest";
import { validUntil } from "./queries.ts";
import { sameRecord } from "./record.ts";
import { LockServer } from "./testing/lock-server.ts";
import { annotated, held, record, released, view } from "./testing/records.ts";
import { leading, ofType, TestCandidate, types, waiting } from "./testing/test-candidate.ts";
import type { Answer } from "./types.ts";

describe("start", () => {
  it("reads the lock", () => expect(types(new TestCandidate().start())).toEqual(["read"]));

  it("has no effect the second time", () => {
    const candidate = waiting(held(7));
    expect(candidate.start()).toEqual([]);
    expect(candidate.phase).toBe("campaigning");
  });

  it("campaigns again after a stop, and reads the lock before anything else", () => {
    const candidate = waiting(released(7));
    candidate.failed();
    candidate.stop();
    candidate.freeze(3_600_000);
    expect(types(candidate.start())).toEqual(["read"]);
    expect(candidate.state.stopping).toBe(false);
  });

  it("polls after a stop, until the watch is up again", () => {
    const candidate = waiting(held(7));
    candidate.watchUp();
    candidate.stop();
    candidate.start();
    candidate.found(held(7));
    expect(candidate.nextWakeMs).toBe(2_000);
  });
});

describe("stop", () => {
  it("completes at once if the candidate is idle", () =>
    expect(types(new TestCandidate().stop())).toEqual(["stopped"]));

  it("completes at once if the candidate is waiting", () => {
    expect(types(waiting(held(7)).stop())).toEqual(["stopped"]);
  });

  it("cancels a read in flight", () => {
    const candidate = new TestCandidate();
    candidate.start();
    expect(types(candidate.stop())).toEqual(["cancel", "stopped"]);
  });

  it("waits for an acquisition in flight, and releases the lock if it was acquired", () => {
    const candidate = new TestCandidate();
    candidate.start();
    candidate.absent();
    expect(candidate.stop()).toEqual([]);
    expect(types(candidate.ack(1))).toEqual(["write", "leader-changed"]);
    expect(candidate.lastWrite).toMatchObject({ purpose: "release", over: { version: "1" } });
    expect(types(candidate.ack(2))).toEqual(["stopped", "leader-changed"]);
  });

  it.each<[string, Answer]>([
    ["conflicted", { kind: "conflict" }],
    ["failed", { kind: "failed", failure: { kind: "server", message: "" } }],
    ["got a 404", { kind: "absent" }],
  ])("completes when that acquisition %s", (_what, answer) => {
    const candidate = new TestCandidate();
    candidate.start();
    candidate.absent();
    candidate.stop();
    expect(types(candidate.answer(answer))).toContain("stopped");
  });

  it("completes when that acquisition gets no answer", () => {
    const candidate = new TestCandidate();
    candidate.start();
    candidate.absent();
    candidate.stop();
    expect(types(candidate.wait(2_500))).toEqual(["cancel", "failed", "stopped"]);
  });

  it("completes even if the candidate would be refused at this moment", () => {
    const denied = new TestCandidate({ failWhenDenied: true });
    denied.start();
    denied.absent();
    denied.stop();
    expect(types(denied.failed("denied"))).toEqual(["failed", "stopped"]);

    const duplicate = waiting(held(7, "a"));
    duplicate.observed(held(8, "a"));
    duplicate.freeze(15_004);
    duplicate.tick();
    duplicate.stop();
    duplicate.observed(held(9, "a"));
    expect(types(duplicate.conflict())).toContain("stopped");
  });

  it("tells a leader's work to stop, and keeps renewing until it has stopped", () => {
    const candidate = leading();
    expect(candidate.stop()).toEqual([{ type: "term-ending", reason: "shutdown" }]);
    candidate.wait(3_000);
    expect(candidate.request).toMatchObject({ purpose: "renew" });
    candidate.ack(2);
    expect(candidate.workStopped()).toMatchObject([{ type: "write", purpose: "release" }]);
    expect(types(candidate.ack(3))).toEqual(["term-ended", "stopped", "leader-changed"]);
  });

  it("waits for the work of a lost term", () => {
    const candidate = leading();
    candidate.observed(held(2, "b"));
    expect(candidate.stop()).toEqual([]);
    expect(types(candidate.workStopped())).toEqual(["term-ended", "stopped"]);
  });

  it("completes at the hard deadline if the lock cannot be released", () => {
    const candidate = leading();
    candidate.stop();
    candidate.workStopped();
    const effects = candidate.run(14_750, () => ({
      kind: "failed",
      failure: { kind: "unreachable", message: "" },
    }));
    expect(types(effects).slice(-3)).toEqual(["term-ended", "stopped", "leader-changed"]);
    expect(ofType(effects, "term-ended")).toMatchObject([{ reason: "shutdown", released: false }]);
  });
});

describe("release", () => {
  it("follows when the work ends by itself, and the cooldown of that event applies", () => {
    const candidate = leading();
    candidate.workStopped(5_000);
    expect(candidate.ack(2)).toMatchObject([
      { type: "term-ended", reason: "work-ended", released: true },
      {},
    ]);
    const server = new LockServer(candidate.committed(2));
    expect(ofType(candidate.run(4_998, server.answer), "write")).toEqual([]);
    expect(ofType(candidate.run(10, server.answer), "term-started")).toHaveLength(1);
  });

  it("follows a step-down, and the cooldown of the step-down applies", () => {
    const candidate = leading();
    expect(candidate.stepDown(7_000)).toEqual([{ type: "term-ending", reason: "step-down" }]);
    candidate.workStopped(1);
    expect(ofType(candidate.ack(2), "term-ended")).toMatchObject([{ reason: "step-down" }]);
    expect(candidate.state.phase).toMatchObject({ notBeforeMs: 7_000 });
  });

  it("does not follow a step-down of a candidate that does not lead", () => {
    expect(waiting(held(7)).stepDown()).toEqual([]);
    const candidate = leading();
    candidate.stop();
    expect(candidate.stepDown()).toEqual([]);
    expect(candidate.state.phase).toMatchObject({ reason: "shutdown" });
  });

  it("waits for a renewal in flight", () => {
    const candidate = leading();
    candidate.wait(3_000);
    expect(candidate.workStopped()).toEqual([]);
    expect(types(candidate.ack(2))).toEqual(["write"]);
    expect(candidate.request).toMatchObject({ purpose: "release", over: { version: "2" } });
  });

  it("is written over a version with a new annotation", () => {
    const candidate = leading();
    const mine = candidate.committed(1);
    candidate.workStopped();
    candidate.conflict();
    candidate.found(annotated(2, mine));
    expect(candidate.request).toMatchObject({ purpose: "release", over: { version: "2" } });
  });

  it.each([
    ["another candidate holds the lock", held(2, "b")],
    ["another process with the same identity holds the lock", held(2, "a")],
    ["the lock was replaced", view(2, record({ holderIdentity: "b" }), "lock-2")],
  ])("does not happen when %s", (_what, seen) => {
    const candidate = leading();
    candidate.workStopped();
    const effects = candidate.observed(seen);
    expect(types(effects).slice(0, 2)).toEqual(["cancel", "term-ended"]);
    expect(ofType(effects, "term-ended")).toMatchObject([{ released: false }]);
    expect(ofType(candidate.effects, "write").filter(({ purpose }) => purpose === "release")).toHaveLength(1);
  });

  it("does not happen when the lock was replaced with a copy of our record", () => {
    const candidate = leading();
    const copied = { ...candidate.committed(2), uid: "lock-2" };
    candidate.workStopped();
    expect(ofType(candidate.observed(copied), "term-ended")).toMatchObject([{ released: false }]);
  });

  it("does not happen when the lock was deleted", () => {
    const candidate = leading();
    candidate.workStopped();
    expect(ofType(candidate.absent(), "term-ended")).toMatchObject([{ released: false }]);
  });

  it("does not happen after the term was lost", () => {
    const candidate = leading();
    candidate.wait(10_000);
    expect(types(candidate.workStopped())).toEqual(["term-ended", "write"]);
    expect(candidate.lastWrite).toMatchObject({ purpose: "acquire" });
  });

  it("does not happen if the process was frozen until after its hard deadline", () => {
    const candidate = leading();
    candidate.freeze(14_750);
    const effects = candidate.workStopped();
    expect(ofType(effects, "term-ended")).toMatchObject([{ reason: "work-ended", released: false }]);
    expect(ofType(effects, "write")).toMatchObject([{ purpose: "acquire" }]);
  });
});

describe("a jump of the wall clock", () => {
  it("forward makes the last write older, permanently", () => {
    const candidate = leading();
    candidate.suspend(14_750);
    candidate.tick();
    candidate.suspend(-14_750);
    expect(candidate.mayWork).toBe(false);
  });

  it("forward makes a write in flight older, too", () => {
    const candidate = new TestCandidate();
    candidate.start();
    candidate.absent();
    candidate.suspend(10_000);
    candidate.tick();
    candidate.suspend(-10_000);
    expect(types(candidate.ack(1))).not.toContain("term-started");
  });

  it("back does not hide a later suspension", () => {
    const candidate = leading();
    candidate.suspend(-3_600_000);
    candidate.tick();
    candidate.suspend(14_750);
    expect(candidate.mayWork).toBe(false);
  });

  it("in small steps counts once they add up", () => {
    const candidate = leading();
    for (let n = 0; n < 4; n++) {
      candidate.suspend(15);
      candidate.tick();
    }
    expect(candidate.state.phase).toMatchObject({ term: { sent: { monoMs: -60 } } });
  });
});

describe("the written record", () => {
  it("of an acquisition has this identity, its lease duration and the same millisecond twice", () => {
    const candidate = leading();
    expect(candidate.lastWrite.record).toEqual({
      holderIdentity: "a",
      leaseDurationSeconds: 15,
      acquireTime: "2030-01-01T00:00:00.000000Z",
      renewTime: "2030-01-01T00:00:00.000500Z",
      leaseTransitions: 0,
    });
  });

  it("of a renewal keeps acquireTime and leaseTransitions", () => {
    const candidate = waiting(released(7, { leaseTransitions: 4 }));
    candidate.ack(8);
    const acquired = candidate.lastWrite.record;
    expect(acquired.leaseTransitions).toBe(5);
    candidate.wait(3_000);
    expect(candidate.lastWrite.record).toEqual({ ...acquired, renewTime: "2030-01-01T00:00:03.000500Z" });
  });

  it("of a renewal while draining keeps them, too", () => {
    const candidate = waiting(released(7, { leaseTransitions: 4 }));
    candidate.ack(8);
    const acquired = candidate.lastWrite.record;
    candidate.stepDown();
    candidate.wait(3_000);
    expect(candidate.lastWrite.record).toEqual({ ...acquired, renewTime: "2030-01-01T00:00:03.000500Z" });
  });

  it("of a release is the same as in client-go: no holder, one second, leaseTransitions kept", () => {
    const candidate = waiting(released(7, { leaseTransitions: 4 }));
    candidate.ack(8);
    candidate.workStopped();
    expect(candidate.lastWrite.record).toEqual({
      holderIdentity: "",
      leaseDurationSeconds: 1,
      acquireTime: "2030-01-01T00:00:00.000500Z",
      renewTime: "2030-01-01T00:00:00.000500Z",
      leaseTransitions: 5,
    });
  });

  it("differs by the random number between two writes at the same time", () => {
    const one = waiting(released(7));
    const other = new TestCandidate();
    other.start();
    other.random = 0.25;
    other.found(released(7));
    expect(sameRecord(one.lastWrite.record, other.lastWrite.record)).toBe(false);
  });
});

describe("work that ignores its signal", () => {
  const draining = (drainTimeoutMs?: number) => {
    const candidate = leading(drainTimeoutMs === undefined ? {} : { drainTimeoutMs });
    const server = new LockServer(candidate.committed(1));
    return { candidate, server };
  };

  it.each([
    ["a step-down", (candidate: TestCandidate) => candidate.stepDown()],
    ["a stop", (candidate: TestCandidate) => candidate.stop()],
  ])("loses its term when the time to stop is over: %s", (_what, end) => {
    const { candidate, server } = draining(20_000);
    end(candidate);
    expect(ofType(candidate.run(19_999, server.answer), "term-lost")).toEqual([]);
    expect([candidate.phase, candidate.mayWork]).toEqual(["draining", true]);
    const lastSent = (candidate.state.phase as { term: { sent: { monoMs: number } } }).term.sent.monoMs;
    expect(ofType(candidate.run(1, server.answer), "term-lost")).toEqual([
      { type: "term-lost", reason: "stop-timeout" },
    ]);
    const effects = candidate.run(30_000, server.answer);
    expect(ofType(effects, "write")).toEqual([]);
    expect(types(effects)).toEqual(["term-expired", "overrun"]);
    expect(validUntil(candidate.config, candidate.state)?.monoMs).toBe(lastSent + 14_750);
    expect(ofType(candidate.workStopped(), "term-ended")).toMatchObject([
      { reason: "stop-timeout", released: false },
    ]);
  });

  it("counts from the first request to stop", () => {
    const { candidate, server } = draining(20_000);
    candidate.stepDown();
    candidate.run(15_000, server.answer);
    candidate.stop();
    expect(ofType(candidate.run(5_000, server.answer), "term-lost")).toHaveLength(1);
  });

  it("may drain without limit if none is set", () => {
    const { candidate, server } = draining();
    candidate.stepDown();
    candidate.run(3_600_000, server.answer);
    expect([candidate.phase, candidate.mayWork]).toEqual(["draining", true]);
  });
});
