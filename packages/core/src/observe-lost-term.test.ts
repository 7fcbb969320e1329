/** What a view of the lock means for the work of a term that is lost, and for writes without an answer. */
import { describe, expect, it } from "vitest";
import { held } from "./testing/records.ts";
import { leading, types } from "./testing/test-candidate.ts";

describe("after the renew deadline", () => {
  /** A leader whose renewals fail. Its work may use the time until the hard deadline to stop. */
  function losing() {
    const candidate = leading();
    candidate.wait(10_000);
    expect(candidate.phase).toBe("lost");
    expect(candidate.mayWork).toBe(true);
    return candidate;
  }

  it("the work has no time left as soon as another holder is seen", () => {
    const candidate = losing();
    expect(types(candidate.observed(held(2)))).toEqual(["term-expired", "leader-changed"]);
    expect(candidate.mayWork).toBe(false);
  });

  it("the work has no time left as soon as the lock is seen to be deleted", () => {
    const candidate = losing();
    expect(types(candidate.deleted(2))).toContain("term-expired");
    expect(candidate.mayWork).toBe(false);
  });

  it("the end of the work's time is reported once, even if it still runs at the hard deadline", () => {
    const candidate = losing();
    candidate.observed(held(2));
    expect(types(candidate.wait(10_000)).filter((type) => type !== "leader-changed")).toEqual(["overrun"]);
  });
});

describe("own writes", () => {
  it("that were sent over an older version are forgotten once the lock shows a newer one of our own", () => {
    const candidate = leading();
    candidate.wait(3_000);
    candidate.failed();
    candidate.wait(1_000);
    expect(candidate.state.ownWrites.length).toBeGreaterThan(1);
    candidate.ack(2);
    expect(candidate.state.ownWrites).toMatchObject([{ record: candidate.lastWrite.record }]);
  });
});
