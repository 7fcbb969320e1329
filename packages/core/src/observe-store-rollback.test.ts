/** A store that was restored from a backup, or replaced, has lower revisions than this candidate has seen. */
import { describe, expect, it } from "vitest";
import { held, released, view } from "./testing/records.ts";
import { leading, ofType, TestCandidate, types, verbs, waiting } from "./testing/test-candidate.ts";

describe("a lower revision than was seen", () => {
  it("is ignored if it may have been delivered late", () => {
    const candidate = waiting(held(70));
    expect(types(candidate.observed(held(7)))).toEqual([]);
    expect(candidate.state.revision).toBe(70n);
  });

  it("counts in the answer to a fresh read, and the last known holder has a full lease", () => {
    const candidate = waiting(held(70));
    candidate.freeze(6_000);
    candidate.tick();
    expect(candidate.request?.type).toBe("read");
    const effects = candidate.found(released(7));
    expect(ofType(effects, "failed")).toMatchObject([
      {
        during: "read",
        failure: { kind: "server", message: expect.stringContaining("from revision 70 to 7") },
      },
    ]);
    expect(verbs(effects)).toEqual([]);
    expect(candidate.state.vanishedHolderUntilMs).toBe(21_000);
    const later = candidate.run(15_010, (request) =>
      request.type === "read" ? { kind: "found", view: released(7) } : undefined,
    );
    expect(ofType(later, "write")).toMatchObject([{ purpose: "acquire", over: { version: "7" } }]);
  });

  it("is ignored in the answer to a read during which a newer version was seen", () => {
    const candidate = waiting(held(70));
    candidate.wait(2_000);
    expect(candidate.request?.type).toBe("read");
    candidate.observed(held(71));
    expect(types(candidate.found(held(70)))).toEqual([]);
    expect(candidate.state.revision).toBe(71n);
  });

  it("is ignored in the late answer to a read that timed out", () => {
    const candidate = new TestCandidate();
    candidate.start();
    candidate.wait(2_600);
    candidate.found(held(70));
    expect(types(candidate.answer({ kind: "found", view: held(7) }, 1))).toEqual([]);
    expect(candidate.state.revision).toBe(70n);
  });

  it("does not delay anybody if the last thing that was seen is a deletion", () => {
    const candidate = waiting(released(70));
    candidate.deleted(71);
    const untilMs = candidate.state.vanishedHolderUntilMs;
    candidate.wait(1_000);
    while (candidate.request?.type !== "read") candidate.wait(1_000);
    candidate.found(released(7));
    expect(candidate.state.vanishedHolderUntilMs).toBe(untilMs);
  });

  it("ends the term of a leader", () => {
    const candidate = leading();
    candidate.wait(3_000);
    candidate.ack(70);
    candidate.wait(3_000);
    candidate.conflict();
    expect(types(candidate.found(view(7, candidate.lastWrite.record)))).toContain("term-lost");
    expect(candidate.mayWork).toBe(false);
  });
});

describe("a version that a restored store gives again", () => {
  it("with another record is a change: its holder has a full lease", () => {
    const candidate = waiting(held(70));
    candidate.wait(14_000);
    candidate.observed(held(70, "c"));
    expect(candidate.state.lock).toMatchObject({ sinceMs: candidate.monoMs });
    expect(verbs(candidate.wait(14_900))).not.toContain("update");
  });

  it("with a free lock does not make it free: the holder that was seen may still be working", () => {
    const candidate = waiting(held(70));
    candidate.wait(1_000);
    candidate.observed(released(70));
    const unchanged = () => ({ kind: "found", view: released(70) }) as const;
    expect(verbs(candidate.run(14_900, unchanged))).not.toContain("update");
    expect(verbs(candidate.run(200, unchanged))).toContain("update");
  });

  it("with another record ends the term of a leader", () => {
    const candidate = leading();
    const { lock } = candidate.state;
    if (lock.kind !== "present") throw new Error("the leader has not seen its lock");
    const effects = candidate.observed({
      ...lock.view,
      record: { ...lock.view.record, holderIdentity: "c" },
    });
    expect(ofType(effects, "term-lost")).toMatchObject([{ reason: "taken-over" }]);
  });
});
