/** A lock that was deleted, replaced or emptied by hand: its holder may be working still. */
import { describe, expect, it } from "vitest";
import { held, record, released, view } from "./testing/records.ts";
import { leading, ofType, type Rig, verbs, waiting } from "./testing/rig.ts";

describe("a holder that vanished", () => {
  const waitsUntil = (rig: Rig) => rig.state.vanishedHolderUntilMs;

  it("has its full time from when the deletion was learned of, for it may have renewed unseen", () => {
    const rig = waiting(held(7));
    rig.freeze(5_000);
    rig.deleted(8);
    expect(waitsUntil(rig)).toBe(20_000);
  });

  it("has it also when a read finds nothing after a long silence", () => {
    const rig = waiting(held(7));
    rig.freeze(60_000);
    rig.tick();
    expect(rig.request).toMatchObject({ type: "write", over: { version: "7" } });
    expect(verbs(rig.absent())).toEqual([]);
    expect(waitsUntil(rig)).toBe(75_000);
  });

  it.each([
    ["another lock by the same name was made", view(8, record({ holderIdentity: "c" }), "lock-2")],
    ["another lock by the same name was made and released", view(8, released(8).record, "lock-2")],
  ])("has it when %s", (_what, seen) => {
    const rig = waiting(held(7));
    rig.freeze(5_000);
    rig.observed(seen);
    expect(waitsUntil(rig)).toBe(20_000);
  });

  it.each([
    ["released", released(8)],
    ["was succeeded by somebody else in the same lock", held(8, "c")],
    ["renewed", held(8)],
  ])("is none when it %s", (_what, seen) => {
    const rig = waiting(held(7));
    rig.observed(seen);
    expect(waitsUntil(rig)).toBe(Number.NEGATIVE_INFINITY);
  });

  it("has the time that stands in a lock which was emptied by hand, from when that was seen", () => {
    const rig = waiting(held(7));
    rig.freeze(5_000);
    const emptied = view(8, record({ holderIdentity: "" }));
    rig.observed(emptied);
    expect(
      ofType(
        rig.run(14_990, () => ({ kind: "found", view: emptied })),
        "write",
      ),
    ).toEqual([]);
    expect(
      ofType(
        rig.run(20, () => undefined),
        "write",
      ),
    ).toHaveLength(1);
  });

  it("has it also for a candidate that never saw who held it", () => {
    const rig = waiting(view(8, record({ holderIdentity: "" })));
    expect(
      ofType(
        rig.run(14_990, () => ({ kind: "found", view: view(8, record({ holderIdentity: "" })) })),
        "write",
      ),
    ).toEqual([]);
  });

  it("may be one that was never seen: a released lock that is deleted is left alone for a whole lease", () => {
    const rig = waiting(held(7));
    rig.observed(released(8));
    rig.deleted(9);
    expect(waitsUntil(rig)).toBe(15_000);
  });

  it("may be one that was never seen after this very process let go", () => {
    const rig = leading();
    rig.workStopped(5_000);
    rig.ack(2);
    expect(rig.phase).toBe("campaigning");
    rig.deleted(3);
    expect(waitsUntil(rig)).toBe(15_000);
  });

  it("is none when it was this very process a moment ago", () => {
    const rig = leading();
    rig.freeze(14_749);
    rig.deleted(2);
    expect(waitsUntil(rig)).toBe(Number.NEGATIVE_INFINITY);
  });

  it("may be somebody who followed unseen when it was this process long ago", () => {
    const rig = leading();
    rig.freeze(14_750);
    rig.deleted(2);
    expect(waitsUntil(rig)).toBe(29_750);
  });

  it("is one with our own name, if this process did not write it", () => {
    const rig = waiting(held(7, "a"));
    rig.deleted(8);
    expect(waitsUntil(rig)).toBe(15_000);
  });

  it("of two, the one that has longer counts", () => {
    const rig = waiting(held(7, "b", { leaseDurationSeconds: 60 }));
    rig.deleted(8);
    rig.observed(view(9, record({ holderIdentity: "c" }), "lock-2"));
    rig.deleted(10);
    expect(waitsUntil(rig)).toBe(60_000);
  });

  it("is not forgotten when a new lock is made and released", () => {
    const rig = waiting(held(7));
    rig.deleted(8);
    rig.observed(view(9, record({ holderIdentity: "c" }), "lock-2"));
    rig.observed(view(10, released(10).record, "lock-2"));
    expect(
      ofType(
        rig.run(14_900, () => ({ kind: "found", view: view(10, released(10).record, "lock-2") })),
        "write",
      ),
    ).toEqual([]);
    expect(ofType(rig.wait(200), "write")).toHaveLength(1);
  });
});
