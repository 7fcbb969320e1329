/** The lock was deleted, replaced or emptied by hand, and its holder may still be working. */
import { describe, expect, it } from "vitest";
import { held, record, released, view } from "./testing/records.ts";
import { leading, ofType, type TestCandidate, verbs, waiting } from "./testing/test-candidate.ts";

describe("a holder that vanished", () => {
  const waitsUntil = (candidate: TestCandidate) => candidate.state.vanishedHolderUntilMs;

  it("has a full lease from when the deletion was seen, because it may have renewed unseen", () => {
    const candidate = waiting(held(7));
    candidate.freeze(5_000);
    candidate.deleted(8);
    expect(waitsUntil(candidate)).toBe(20_000);
  });

  it("has a full lease when a read finds no lock after a long silence", () => {
    const candidate = waiting(held(7));
    candidate.freeze(60_000);
    candidate.tick();
    expect(candidate.request).toMatchObject({ type: "write", over: { version: "7" } });
    expect(verbs(candidate.absent())).toEqual([]);
    expect(waitsUntil(candidate)).toBe(75_000);
  });

  it("has at least the longest lease that was ever seen, because an unseen successor may have had it", () => {
    const candidate = waiting(held(7, "c", { leaseDurationSeconds: 60 }));
    candidate.observed(held(8, "b", { leaseDurationSeconds: 10 }));
    candidate.freeze(5_000);
    candidate.deleted(9);
    expect(waitsUntil(candidate)).toBe(65_000);
  });

  it("has at least our own lease, because an unseen successor may be configured as we are", () => {
    const candidate = waiting(held(7, "b", { leaseDurationSeconds: 2 }));
    candidate.freeze(5_000);
    candidate.deleted(8);
    expect(waitsUntil(candidate)).toBe(20_000);
  });

  it.each([
    ["a new lock with the same name was created", view(8, record({ holderIdentity: "c" }), "lock-2")],
    ["a new lock with the same name was created and released", view(8, released(8).record, "lock-2")],
  ])("has a full lease when %s", (_what, seen) => {
    const candidate = waiting(held(7));
    candidate.freeze(5_000);
    candidate.observed(seen);
    expect(waitsUntil(candidate)).toBe(20_000);
  });

  it.each([
    ["released", released(8)],
    ["was followed by another holder in the same lock", held(8, "c")],
    ["renewed", held(8)],
  ])("is not waited for when it %s", (_what, seen) => {
    const candidate = waiting(held(7));
    candidate.observed(seen);
    expect(waitsUntil(candidate)).toBe(Number.NEGATIVE_INFINITY);
  });

  it("has the duration that is left in a lock emptied by hand, from when that was seen", () => {
    const candidate = waiting(held(7));
    candidate.freeze(5_000);
    const emptied = view(8, record({ holderIdentity: "" }));
    candidate.observed(emptied);
    expect(
      ofType(
        candidate.run(14_990, () => ({ kind: "found", view: emptied })),
        "write",
      ),
    ).toEqual([]);
    expect(
      ofType(
        candidate.run(20, () => undefined),
        "write",
      ),
    ).toHaveLength(1);
  });

  it("has that duration also for a candidate that never saw the holder", () => {
    const candidate = waiting(view(8, record({ holderIdentity: "" })));
    expect(
      ofType(
        candidate.run(14_990, () => ({ kind: "found", view: view(8, record({ holderIdentity: "" })) })),
        "write",
      ),
    ).toEqual([]);
  });

  it("may never have been seen: the wait is one lease when a released lock is deleted", () => {
    const candidate = waiting(held(7));
    candidate.observed(released(8));
    candidate.deleted(9);
    expect(waitsUntil(candidate)).toBe(15_000);
  });

  it("may never have been seen: the wait is one lease when the lock is deleted after our own release", () => {
    const candidate = leading();
    candidate.workStopped(5_000);
    candidate.ack(2);
    expect(candidate.phase).toBe("campaigning");
    candidate.deleted(3);
    expect(waitsUntil(candidate)).toBe(15_000);
  });

  it("is not waited for if this process held the lock within its hard deadline", () => {
    const candidate = leading();
    candidate.freeze(14_749);
    candidate.deleted(2);
    expect(waitsUntil(candidate)).toBe(Number.NEGATIVE_INFINITY);
  });

  it("may be an unseen successor if the hard deadline of this process has passed", () => {
    const candidate = leading();
    candidate.freeze(14_750);
    candidate.deleted(2);
    expect(waitsUntil(candidate)).toBe(29_750);
  });

  it("is waited for if it has our identity but this process did not write the record", () => {
    const candidate = waiting(held(7, "a"));
    candidate.deleted(8);
    expect(waitsUntil(candidate)).toBe(15_000);
  });

  it("with the later end counts if there are two", () => {
    const candidate = waiting(held(7, "b", { leaseDurationSeconds: 60 }));
    candidate.deleted(8);
    candidate.observed(view(9, record({ holderIdentity: "c" }), "lock-2"));
    candidate.deleted(10);
    expect(waitsUntil(candidate)).toBe(60_000);
  });

  it("is not forgotten when a new lock is created and released", () => {
    const candidate = waiting(held(7));
    candidate.deleted(8);
    candidate.observed(view(9, record({ holderIdentity: "c" }), "lock-2"));
    candidate.observed(view(10, released(10).record, "lock-2"));
    expect(
      ofType(
        candidate.run(14_900, () => ({ kind: "found", view: view(10, released(10).record, "lock-2") })),
        "write",
      ),
    ).toEqual([]);
    expect(ofType(candidate.wait(200), "write")).toHaveLength(1);
  });
});
