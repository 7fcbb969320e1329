/** A store that was restored from a backup, or replaced by an empty one, shows lower revisions than were seen. */
import { describe, expect, it } from "vitest";
import { held, released, view } from "./testing/records.ts";
import { leading, ofType, types, verbs, waiting } from "./testing/rig.ts";

describe("a lock that went back in time", () => {
  it("is ignored where it may be a late delivery", () => {
    const rig = waiting(held(70));
    expect(types(rig.observed(held(7)))).toEqual([]);
    expect(rig.state.revision).toBe(70n);
  });

  it("is believed from a fresh read, and its known holder is waited out", () => {
    const rig = waiting(held(70));
    rig.freeze(6_000);
    rig.tick();
    expect(rig.request?.type).toBe("read");
    const effects = rig.found(released(7));
    expect(ofType(effects, "failed")[0]?.failure.message).toContain("from revision 70 to 7");
    expect(verbs(effects)).toEqual([]);
    expect(rig.state.vanishedHolderUntilMs).toBe(21_000);
    const later = rig.run(15_010, (request) =>
      request.type === "read" ? { kind: "found", view: released(7) } : undefined,
    );
    expect(ofType(later, "write")).toMatchObject([{ purpose: "acquire", over: { version: "7" } }]);
  });

  it("ends the term of a leader", () => {
    const rig = leading();
    rig.wait(3_000);
    rig.ack(70);
    rig.wait(3_000);
    rig.conflict();
    expect(types(rig.found(view(7, rig.lastWrite.record)))).toContain("term-lost");
    expect(rig.mayWork).toBe(false);
  });
});
