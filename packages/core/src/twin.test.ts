/** Another process with this candidate's own identity. */
import { describe, expect, it } from "vitest";
import { annotated, held, record, released, view } from "./testing/records.ts";
import { leading, ofType, Rig, types, waiting } from "./testing/rig.ts";

describe("a record with our own name that this process did not write", () => {
  it("is waited out like a stranger's: a restart is a new term", () => {
    const rig = waiting(held(7, "a", { leaseTransitions: 3 }));
    rig.watchUp();
    expect(
      ofType(
        rig.run(14_999, () => ({ kind: "found", view: held(7, "a", { leaseTransitions: 3 }) })),
        "write",
      ),
    ).toEqual([]);
    rig.wait(1);
    expect(types(rig.ack(8))).toContain("term-started");
    expect(rig.state.phase).toMatchObject({ term: { token: 8n } });
  });

  it("is counted as no transition, as client-go counts", () => {
    const rig = waiting(held(7, "a", { leaseTransitions: 3 }));
    rig.freeze(15_000);
    rig.tick();
    expect(rig.lastWrite.record.leaseTransitions).toBe(3);
  });
});

describe("a twin", () => {
  it("is proved by its second renewal, and this candidate is refused", () => {
    const rig = waiting(held(7, "a"));
    expect(types(rig.observed(held(8, "a")))).toEqual([]);
    const effects = rig.observed(held(9, "a"));
    expect(effects).toEqual([
      {
        type: "refused",
        reason: "duplicate-identity",
        message:
          'another live process holds the lock with this candidate\'s own identity "a"; ' +
          "give each replica its own, for example its pod name",
      },
    ]);
    expect(rig.phase).toBe("idle");
    expect(rig.nextWakeMs).toBe(Number.POSITIVE_INFINITY);
  });

  it("is not proved by one renewal, which may have been under way when its process died", () => {
    const rig = waiting(held(7, "a"));
    rig.observed(held(8, "a"));
    rig.wait(60_000);
    expect(ofType(rig.effects, "refused")).toEqual([]);
  });

  it("is not proved by annotations", () => {
    const rig = waiting(held(7, "a"));
    for (const revision of [8, 9, 10]) rig.observed(annotated(revision, held(7, "a")));
    expect(rig.phase).toBe("campaigning");
  });

  it("is not proved when somebody else held the lock in between", () => {
    const rig = waiting(held(7, "a"));
    rig.observed(held(8, "a"));
    rig.observed(held(9, "b"));
    rig.observed(held(10, "a"));
    rig.observed(held(11, "a"));
    expect(rig.phase).toBe("campaigning");
    rig.observed(held(12, "a"));
    expect(rig.phase).toBe("idle");
  });

  it("is not proved by another lock with our name in it", () => {
    const rig = waiting(held(7, "a"));
    rig.observed(held(8, "a"));
    rig.observed(view(9, record({ holderIdentity: "a", renewTime: "then" }), "lock-2"));
    expect(rig.phase).toBe("campaigning");
  });

  it("is not proved by the writes of this very process", () => {
    const rig = new Rig();
    rig.start();
    rig.found(released(7));
    rig.ack(8);
    for (const revision of [9, 10, 11]) {
      rig.wait(3_000);
      rig.ack(revision);
    }
    rig.wait(10_000);
    rig.workStopped();
    expect(rig.request).toMatchObject({ purpose: "acquire" });
    rig.ack(12);
    expect(rig.phase).toBe("leading");
  });

  it("that overwrites a leader ends the term, and is refused no sooner than it is proved", () => {
    const rig = leading();
    expect(ofType(rig.observed(held(2, "a")), "term-lost")).toMatchObject([{ reason: "overwritten" }]);
    rig.workStopped();
    rig.observed(held(3, "a"));
    expect(rig.phase).toBe("campaigning");
    rig.observed(held(4, "a"));
    expect(rig.phase).toBe("idle");
  });

  it("cancels what was in flight when it is proved", () => {
    const rig = waiting(held(7, "a"));
    rig.observed(held(8, "a"));
    rig.wait(2_000);
    expect(types(rig.observed(held(9, "a")))).toEqual(["cancel", "refused"]);
  });
});
