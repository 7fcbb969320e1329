import { describe, expect, it } from "vitest";
import type { Line } from "../../bench/lib/candidates.mjs";
import { type Entry, entryOf, violations } from "./lease-history.ts";

// A check that never fails proves nothing, so each rule is broken once.

/** A history in which each change follows `afterMs` after the previous one, with leases of 3 s. */
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
  return { event, id, token: String(token).padStart(20, "0"), monoMs, election: "office" };
}

const taken = (afterMs: number, by = "ours-2", from = "client-go-1") =>
  history({ holder: from, afterMs: 0, transitions: 0 }, { holder: by, afterMs, transitions: 1 });

describe("violations", () => {
  it("finds none in a release, a takeover after expiry and a renewal", () => {
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
      // Our process may know of its write before the watch does.
      line("started-leading", "ours-3", 5, 14_105),
    ];
    expect(violations(changes, lines)).toEqual([]);
  });

  it.each([
    ["ours-2", "client-go-1"],
    ["client-go-2", "ours-1"],
  ])("finds that %s acquired the lease of %s too early", (by, from) => {
    expect(violations(taken(2_700, by, from), [])).toMatchObject([
      expect.stringMatching(/^acquired 2700 ms .* by the record/),
      expect.stringMatching(/^acquired 2700 ms .* by the watch/),
    ]);
  });

  it("tolerates one second between two client-go candidates", () => {
    expect(violations(taken(2_100, "client-go-2"), [])).toEqual([]);
    expect(violations(taken(1_900, "client-go-2"), [])).not.toEqual([]);
  });

  it("finds a transition that was not counted, or counted twice", () => {
    const [first, second] = taken(3_100) as [Entry, Entry];
    expect(violations([first, { ...second, transitions: 0 }], [])).toHaveLength(1);
    expect(violations([first, { ...second, transitions: 2 }], [])).toHaveLength(1);
  });

  it("finds work after another holder was seen", () => {
    const changes = history(
      { holder: "ours-1", afterMs: 0, transitions: 0 },
      { holder: "client-go-2", afterMs: 3_100, transitions: 1 },
    );
    const late = line("worked", "ours-1", 1, 13_101);
    expect(violations(changes, [late])).toMatchObject([
      expect.stringMatching(/^ours-1 worked 1 ms after revision 2 of client-go-2/),
      expect.stringMatching(/^ours-1 worked after its own lease had expired/),
    ]);
  });

  it("finds work after its own release", () => {
    const changes = history(
      { holder: "ours-1", afterMs: 0, transitions: 0 },
      { holder: "", afterMs: 500, transitions: 0 },
    );
    expect(violations(changes, [line("worked", "ours-1", 1, 10_501)])).toHaveLength(1);
  });

  it("finds a token that is not the revision of the acquisition, and one that does not increase", () => {
    const changes = history(
      { holder: "ours-1", afterMs: 0, transitions: 0 },
      { holder: "ours-1", afterMs: 500, transitions: 0 },
    );
    expect(violations(changes, [line("started-leading", "ours-1", 2, 10_600)])).toHaveLength(1);
    const twice = [
      line("started-leading", "ours-1", 1, 10_001),
      line("started-leading", "ours-1", 1, 10_002),
    ];
    expect(violations(changes, twice)).toMatchObject([
      expect.stringMatching(/^token 0*1 of ours-1 follows 0*1 /),
    ]);
  });

  it("rejects a record that lacks a field or has times in another format", () => {
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
