/** Starting, stopping, letting go, and what is written. */
import { describe, expect, it } from "vitest";
import { sameRecord } from "./record.ts";
import { annotated, held, record, released, view } from "./testing/records.ts";
import { leading, ofType, Rig, types, waiting } from "./testing/rig.ts";
import { LockServer } from "./testing/server.ts";
import type { Answer } from "./types.ts";

describe("start", () => {
  it("reads the lock", () => expect(types(new Rig().start())).toEqual(["read"]));

  it("a second time changes nothing", () => {
    const rig = waiting(held(7));
    expect(rig.start()).toEqual([]);
    expect(rig.phase).toBe("campaigning");
  });

  it("after a stop campaigns again, and reads before it trusts what it knew", () => {
    const rig = waiting(released(7));
    rig.failed();
    rig.stop();
    rig.freeze(3_600_000);
    expect(types(rig.start())).toEqual(["read"]);
    expect(rig.state.stopping).toBe(false);
  });

  it("after a stop polls until the watch says that it is up again", () => {
    const rig = waiting(held(7));
    rig.watchUp();
    rig.stop();
    rig.start();
    rig.found(held(7));
    expect(rig.nextWakeMs).toBe(2_000);
  });
});

describe("stop", () => {
  it("of who does not take part is answered at once", () =>
    expect(types(new Rig().stop())).toEqual(["stopped"]));

  it("of a candidate that waits is answered at once", () => {
    expect(types(waiting(held(7)).stop())).toEqual(["stopped"]);
  });

  it("of a candidate that reads cancels the read", () => {
    const rig = new Rig();
    rig.start();
    expect(types(rig.stop())).toEqual(["cancel", "stopped"]);
  });

  it("of a candidate whose write may be winning awaits the answer, and gives the lock back", () => {
    const rig = new Rig();
    rig.start();
    rig.absent();
    expect(rig.stop()).toEqual([]);
    expect(types(rig.ack(1))).toEqual(["write", "leader-changed"]);
    expect(rig.lastWrite).toMatchObject({ purpose: "release", over: { version: "1" } });
    expect(types(rig.ack(2))).toEqual(["stopped", "leader-changed"]);
  });

  it.each<[string, Answer]>([
    ["lost the race", { kind: "conflict" }],
    ["failed", { kind: "failed", failure: { kind: "server", message: "" } }],
    ["found nothing", { kind: "absent" }],
  ])("is answered when that write %s", (_what, answer) => {
    const rig = new Rig();
    rig.start();
    rig.absent();
    rig.stop();
    expect(types(rig.answer(answer))).toContain("stopped");
  });

  it("is answered when that write is never answered", () => {
    const rig = new Rig();
    rig.start();
    rig.absent();
    rig.stop();
    expect(types(rig.wait(2_500))).toEqual(["cancel", "failed", "stopped"]);
  });

  it("is answered even when the candidate would be refused at this moment", () => {
    const denied = new Rig({ failWhenDenied: true });
    denied.start();
    denied.absent();
    denied.stop();
    expect(types(denied.failed("denied"))).toEqual(["failed", "stopped"]);

    const twin = waiting(held(7, "a"));
    twin.observed(held(8, "a"));
    twin.freeze(15_004);
    twin.tick();
    twin.stop();
    twin.observed(held(9, "a"));
    expect(types(twin.conflict())).toContain("stopped");
  });

  it("of a leader asks the work to stop, and goes on renewing until it has", () => {
    const rig = leading();
    expect(rig.stop()).toEqual([{ type: "term-ending", reason: "shutdown" }]);
    rig.wait(3_000);
    expect(rig.request).toMatchObject({ purpose: "renew" });
    rig.ack(2);
    expect(rig.workStopped()).toMatchObject([{ type: "write", purpose: "release" }]);
    expect(types(rig.ack(3))).toEqual(["term-ended", "stopped", "leader-changed"]);
  });

  it("of a lost term waits for its work", () => {
    const rig = leading();
    rig.observed(held(2, "b"));
    expect(rig.stop()).toEqual([]);
    expect(types(rig.workStopped())).toEqual(["term-ended", "stopped"]);
  });

  it("does not outlast a lock that cannot be given back", () => {
    const rig = leading();
    rig.stop();
    rig.workStopped();
    const effects = rig.run(14_750, () => ({
      kind: "failed",
      failure: { kind: "unreachable", message: "" },
    }));
    expect(types(effects).slice(-3)).toEqual(["term-ended", "stopped", "leader-changed"]);
    expect(ofType(effects, "term-ended")).toMatchObject([{ reason: "shutdown", released: false }]);
  });
});

describe("letting go", () => {
  it("the work's own end is a handover, with the cool-down that it asks for", () => {
    const rig = leading();
    rig.workStopped(5_000);
    expect(rig.ack(2)).toMatchObject([{ type: "term-ended", reason: "work-ended", released: true }, {}]);
    const server = new LockServer(rig.committed(2));
    expect(ofType(rig.run(4_998, server.answer), "write")).toEqual([]);
    expect(ofType(rig.run(10, server.answer), "term-started")).toHaveLength(1);
  });

  it("a step-down has the cool-down that it was asked with", () => {
    const rig = leading();
    expect(rig.stepDown(7_000)).toEqual([{ type: "term-ending", reason: "step-down" }]);
    rig.workStopped(1);
    expect(ofType(rig.ack(2), "term-ended")).toMatchObject([{ reason: "step-down" }]);
    expect(rig.state.phase).toMatchObject({ notBeforeMs: 7_000 });
  });

  it("a step-down of who does not lead is nothing", () => {
    expect(waiting(held(7)).stepDown()).toEqual([]);
    const rig = leading();
    rig.stop();
    expect(rig.stepDown()).toEqual([]);
    expect(rig.state.phase).toMatchObject({ reason: "shutdown" });
  });

  it("the release waits for a renewal that is in flight", () => {
    const rig = leading();
    rig.wait(3_000);
    expect(rig.workStopped()).toEqual([]);
    expect(types(rig.ack(2))).toEqual(["write"]);
    expect(rig.request).toMatchObject({ purpose: "release", over: { version: "2" } });
  });

  it("the release is written over an annotation of somebody else", () => {
    const rig = leading();
    const mine = rig.committed(1);
    rig.workStopped();
    rig.conflict();
    rig.found(annotated(2, mine));
    expect(rig.request).toMatchObject({ purpose: "release", over: { version: "2" } });
  });

  it.each([
    ["somebody else holds it", held(2, "b")],
    ["a twin holds it", held(2, "a")],
    ["it is another lock", view(2, record({ holderIdentity: "b" }), "lock-2")],
  ])("nothing is released when %s", (_what, seen) => {
    const rig = leading();
    rig.workStopped();
    const effects = rig.observed(seen);
    expect(types(effects).slice(0, 2)).toEqual(["cancel", "term-ended"]);
    expect(ofType(effects, "term-ended")).toMatchObject([{ released: false }]);
    expect(ofType(rig.effects, "write").filter(({ purpose }) => purpose === "release")).toHaveLength(1);
  });

  it("nothing is released into another lock, though our own record was copied into it", () => {
    const rig = leading();
    const copied = { ...rig.committed(2), uid: "lock-2" };
    rig.workStopped();
    expect(ofType(rig.observed(copied), "term-ended")).toMatchObject([{ released: false }]);
  });

  it("nothing is released when the lock is gone", () => {
    const rig = leading();
    rig.workStopped();
    expect(ofType(rig.absent(), "term-ended")).toMatchObject([{ released: false }]);
  });

  it("nothing is released after a loss", () => {
    const rig = leading();
    rig.wait(10_000);
    expect(types(rig.workStopped())).toEqual(["term-ended", "write"]);
    expect(rig.lastWrite).toMatchObject({ purpose: "acquire" });
  });

  it("nothing is released by a process that was frozen until after its hard deadline", () => {
    const rig = leading();
    rig.freeze(14_750);
    const effects = rig.workStopped();
    expect(ofType(effects, "term-ended")).toMatchObject([{ reason: "work-ended", released: false }]);
    expect(ofType(effects, "write")).toMatchObject([{ purpose: "acquire" }]);
  });
});

describe("a jump of the wall clock", () => {
  it("forward ages what was sent, for good", () => {
    const rig = leading();
    rig.suspend(14_750);
    rig.tick();
    rig.suspend(-14_750);
    expect(rig.mayWork).toBe(false);
  });

  it("ages what is in flight, too", () => {
    const rig = new Rig();
    rig.start();
    rig.absent();
    rig.suspend(10_000);
    rig.tick();
    rig.suspend(-10_000);
    expect(types(rig.ack(1))).not.toContain("term-started");
  });

  it("back does not hide a suspension that comes after it", () => {
    const rig = leading();
    rig.suspend(-3_600_000);
    rig.tick();
    rig.suspend(14_750);
    expect(rig.mayWork).toBe(false);
  });

  it("in small steps counts when they add up", () => {
    const rig = leading();
    for (let n = 0; n < 4; n++) {
      rig.suspend(15);
      rig.tick();
    }
    expect(rig.state.phase).toMatchObject({ term: { sent: { monoMs: -60 } } });
  });
});

describe("records", () => {
  it("an acquisition names this candidate, its lease and one moment", () => {
    const rig = leading();
    expect(rig.lastWrite.record).toEqual({
      holderIdentity: "a",
      leaseDurationSeconds: 15,
      acquireTime: "2030-01-01T00:00:00.000500Z",
      renewTime: "2030-01-01T00:00:00.000500Z",
      leaseTransitions: 0,
    });
  });

  it("a renewal keeps the time of acquisition and the transitions", () => {
    const rig = waiting(released(7, { leaseTransitions: 4 }));
    rig.ack(8);
    const acquired = rig.lastWrite.record;
    expect(acquired.leaseTransitions).toBe(5);
    rig.wait(3_000);
    expect(rig.lastWrite.record).toEqual({ ...acquired, renewTime: "2030-01-01T00:00:03.000500Z" });
  });

  it("a renewal of a term that is ending does so too", () => {
    const rig = waiting(released(7, { leaseTransitions: 4 }));
    rig.ack(8);
    const acquired = rig.lastWrite.record;
    rig.stepDown();
    rig.wait(3_000);
    expect(rig.lastWrite.record).toEqual({ ...acquired, renewTime: "2030-01-01T00:00:03.000500Z" });
  });

  it("a release is what client-go writes: nobody, for one second, transitions kept", () => {
    const rig = waiting(released(7, { leaseTransitions: 4 }));
    rig.ack(8);
    rig.workStopped();
    expect(rig.lastWrite.record).toEqual({
      holderIdentity: "",
      leaseDurationSeconds: 1,
      acquireTime: "2030-01-01T00:00:00.000500Z",
      renewTime: "2030-01-01T00:00:00.000500Z",
      leaseTransitions: 5,
    });
  });

  it("two writes at one moment differ by the random number", () => {
    const one = waiting(released(7));
    const other = new Rig();
    other.start();
    other.random = 0.25;
    other.found(released(7));
    expect(sameRecord(one.lastWrite.record, other.lastWrite.record)).toBe(false);
  });
});
