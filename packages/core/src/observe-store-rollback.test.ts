/** A store that was restored from a backup, or replaced, has lower revisions than this candidate has seen. */
import { describe, expect, it } from "vitest";
import { held, released, view } from "./testing/records.ts";
import { leading, ofType, types, verbs, waiting } from "./testing/test-candidate.ts";

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
    expect(ofType(effects, "failed")[0]?.failure.message).toContain("from revision 70 to 7");
    expect(verbs(effects)).toEqual([]);
    expect(candidate.state.vanishedHolderUntilMs).toBe(21_000);
    const later = candidate.run(15_010, (request) =>
      request.type === "read" ? { kind: "found", view: released(7) } : undefined,
    );
    expect(ofType(later, "write")).toMatchObject([{ purpose: "acquire", over: { version: "7" } }]);
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
