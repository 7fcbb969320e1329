import { describe, expect, it } from "vitest";
import type { Line } from "../../bench/lib/candidates.mjs";
import { type Entry, entryOf, violations } from "./lease-history.ts";

// A judge that never condemns proves nothing: each rule, broken once.

/** A history in which each change comes `afterMs` after the one before; three seconds' leases. */
function history(...changes: { holder: string; afterMs: number; transitions: number }[]): Entry[] {
  let nowMs = 10_000;
  return changes.map(({ holder, afterMs, transitions }, index) => {
    nowMs += afterMs;
    const durationMs = holder === "" ? 1_000 : 3_000;
    const revision = BigInt(index + 1);
    return { revision, holder, durationMs, acquireMs: nowMs, renewMs: nowMs, transitions, seenMs: nowMs };
  });
}

function line(event: Line["event"], id: string, token: number, monoMs: number): Line {
  return { event, id, token: String(token), monoMs, election: "office" };
}

const taken = (afterMs: number, by = "ours-2", from = "client-go-1") =>
  history({ holder: from, afterMs: 0, transitions: 0 }, { holder: by, afterMs, transitions: 1 });

describe("the judge of a Lease's history", () => {
  it("agrees with a release, a takeover after expiry and a renewal", () => {
    const changes = history(
      { holder: "ours-1", afterMs: 0, transitions: 0 },
      { holder: "", afterMs: 500, transitions: 0 },
      { holder: "client-go-2", afterMs: 10, transitions: 1 },
      { holder: "client-go-2", afterMs: 600, transitions: 1 },
      { holder: "ours-3", afterMs: 3_001, transitions: 2 },
    );
    const lines = [
      line("started-leading", "ours-1", 1, 10_001),
      line("worked", "ours-1", 1, 10_499),
      // Our own process may know of its write before the judge's watch does.
      line("started-leading", "ours-3", 5, 14_105),
    ];
    expect(violations(changes, lines)).toEqual([]);
  });

  it.each([
    ["ours-2", "client-go-1"],
    ["client-go-2", "ours-1"],
  ])("condemns %s for taking the lease of %s early", (by, from) => {
    expect(violations(taken(2_700, by, from), [])).toMatchObject([
      expect.stringMatching(/^taken 2700 ms .* by the record/),
      expect.stringMatching(/^taken 2700 ms .* by the watch/),
    ]);
  });

  it("leaves client-go to be a second early with itself", () => {
    expect(violations(taken(2_100, "client-go-2"), [])).toEqual([]);
    expect(violations(taken(1_900, "client-go-2"), [])).not.toEqual([]);
  });

  it("condemns a transition that was not counted, or counted twice", () => {
    const [first, second] = taken(3_100) as [Entry, Entry];
    expect(violations([first, { ...second, transitions: 0 }], [])).toHaveLength(1);
    expect(violations([first, { ...second, transitions: 2 }], [])).toHaveLength(1);
  });

  it("condemns work after somebody else was seen to hold the lease", () => {
    const changes = history(
      { holder: "ours-1", afterMs: 0, transitions: 0 },
      { holder: "client-go-2", afterMs: 3_100, transitions: 1 },
    );
    const late = line("worked", "ours-1", 1, 13_101);
    expect(violations(changes, [late])).toMatchObject([
      expect.stringMatching(/^ours-1 worked 1 ms after revision 2 of client-go-2/),
      expect.stringMatching(/^ours-1 worked after its own lease had run out/),
    ]);
  });

  it("condemns work after the own release", () => {
    const changes = history(
      { holder: "ours-1", afterMs: 0, transitions: 0 },
      { holder: "", afterMs: 500, transitions: 0 },
    );
    expect(violations(changes, [line("worked", "ours-1", 1, 10_501)])).toHaveLength(1);
  });

  it("condemns a token that is not that of the acquisition, and one that does not increase", () => {
    const changes = history(
      { holder: "ours-1", afterMs: 0, transitions: 0 },
      { holder: "ours-1", afterMs: 500, transitions: 0 },
    );
    expect(violations(changes, [line("started-leading", "ours-1", 2, 10_600)])).toHaveLength(1);
    const twice = [
      line("started-leading", "ours-1", 1, 10_001),
      line("started-leading", "ours-1", 1, 10_002),
    ];
    expect(violations(changes, twice)).toMatchObject([expect.stringMatching(/^token 1 of ours-1 follows 1/)]);
  });

  it("does not call a record readable that lacks a field or has times of another form", () => {
    const spec = {
      holderIdentity: "a",
      leaseDurationSeconds: 15,
      acquireTime: "2030-01-01T00:00:00.000000Z",
      renewTime: "2030-01-01T00:00:00.000000Z",
      leaseTransitions: 0,
    };
    const seen = (change: object) => ({
      type: "MODIFIED",
      lease: { metadata: { name: "n", namespace: "ns", resourceVersion: "1" }, spec: { ...spec, ...change } },
      seenMs: 0,
    });
    expect(entryOf(seen({}))).toMatchObject({ holder: "a", durationMs: 15_000 });
    expect(() => entryOf(seen({ renewTime: "2030-01-01T00:00:00Z" }))).toThrow(
      "not a record that both can read",
    );
    expect(() => entryOf(seen({ leaseTransitions: undefined }))).toThrow("not a record that both can read");
    expect(() => entryOf({ ...seen({}), type: "DELETED" })).toThrow("not a record that both can read");
  });
});
