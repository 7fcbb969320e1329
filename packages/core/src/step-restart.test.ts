/** A candidate that is started again after a stop. What it knew of the lock may be outdated. */
import { describe, expect, it } from "vitest";
import { held } from "./testing/records.ts";
import { ofType, TestCandidate, types, waiting } from "./testing/test-candidate.ts";

describe("start after a stop", () => {
  it("waits a full lease again if the lock is still absent, with waitWhenAbsent", () => {
    const candidate = new TestCandidate({ waitWhenAbsent: true });
    candidate.start();
    candidate.absent();
    candidate.stop();
    candidate.freeze(60_000);
    candidate.start();
    candidate.absent();
    const read = () => ({ kind: "absent" }) as const;
    expect(ofType(candidate.run(14_900, read), "write")).toEqual([]);
    expect(ofType(candidate.run(140, read), "write")).toMatchObject([{ purpose: "acquire" }]);
  });

  it("counts the wait for a holder from when it saw the record, before the stop", () => {
    const candidate = waiting(held(7));
    candidate.freeze(5_000);
    candidate.stop();
    candidate.start();
    candidate.found(held(7));
    expect(candidate.state.lock).toMatchObject({ sinceMs: 0 });
  });

  it("is not disturbed by a jump of the wall clock while it was idle", () => {
    const candidate = waiting(held(7));
    candidate.stop();
    candidate.suspend(3_600_000);
    expect(types(candidate.start())).toEqual(["read"]);
  });
});
