import { describe, expect, it } from "vitest";
import { describeGap, describeNow, describeOverlaps, describeTerm } from "./describe.ts";
import type { ElectionLine } from "./election.ts";
import type { Observation } from "./observation.ts";
import { overlapsIn } from "./overlaps.ts";
import { Timeline } from "./timeline.ts";

const election = "prod/billing";
type Distributed<T> = T extends unknown ? Omit<T, "election"> & { election?: string } : never;

function lineAfter(...seen: Distributed<Observation>[]): { line: ElectionLine; timeline: Timeline } {
  const timeline = new Timeline();
  for (const one of seen) timeline.observe({ election, ...one } as Observation);
  return { timeline, line: timeline.elections.get(election) as ElectionLine };
}

const lock = (atMs: number, holder: string, transitions: number, more = {}) =>
  ({
    kind: "lock",
    atMs,
    holder,
    transitions,
    leaseMs: holder ? 15_000 : 1_000,
    ...(holder && { acquired: `${holder}/${transitions}`, token: String(100 + transitions) }),
    ...more,
  }) as const;
const renewed = (atMs: number) => ({ kind: "renewed", atMs }) as const;
const report = (atMs: number, id: string, phase: string, more = {}) =>
  ({
    kind: "replica",
    atMs,
    id,
    phase,
    works: phase === "leader" || phase === "pre-follower",
    healthy: true,
    message: "",
    ...more,
  }) as const;

const gapsOf = ({ line, timeline }: { line: ElectionLine; timeline: Timeline }) =>
  line.gaps.map((gap) => describeGap(gap, timeline.nowMs));
const termsOf = ({ line, timeline }: { line: ElectionLine; timeline: Timeline }) =>
  line.terms.map((term) => describeTerm(term, timeline.nowMs));

describe("terms and gaps", () => {
  it("a handover leaves a gap between the release and the next leader", () => {
    const seen = lineAfter(
      lock(0, "a", 0),
      renewed(3_000),
      lock(5_000, "", 0),
      lock(5_041, "b", 1),
      renewed(8_000),
    );
    expect(termsOf(seen)).toEqual(["a, token 100, 5.0 s, handed over", "b, token 101, 3.0 s, leads"]);
    expect(gapsOf(seen)).toEqual(["41 ms, handover"]);
  });

  it("a lease that expires is a term until its expiry, and a gap since the last renewal", () => {
    const seen = lineAfter(lock(0, "a", 0), renewed(3_000), lock(18_200, "b", 1));
    expect(seen.line.terms[0]).toMatchObject({ toMs: 18_000, ending: "expired" });
    expect(gapsOf(seen)).toEqual(["≤ 15.2 s, lease expired"]);
  });

  it("a takeover just before the expiry that this observer computed is one after an expiry", () => {
    const early = lineAfter(lock(0, "a", 0), renewed(3_000), lock(17_900, "b", 1));
    expect(early.line.terms[0]?.ending).toBe("expired");
    expect(gapsOf(early)).toEqual(["≤ 14.9 s, lease expired"]);
    const tooEarly = lineAfter(lock(0, "a", 0), renewed(3_000), lock(10_000, "b", 1));
    expect(tooEarly.line.terms[0]?.ending).toBe("replaced");
  });

  it.each<[string, Distributed<Observation>[], string]>([
    ["the connection ends", [{ kind: "lost", atMs: 4_000, id: "a" }], "14.2 s, crash"],
    ["the replica says nothing", [], "≤ 15.2 s, frozen"],
    ["the replica says that it follows", [report(13_000, "a", "follower")], "5.2 s, cut off from the lock"],
    ["nobody could ask the replica", [{ kind: "lost", atMs: 2_900, id: "a" }], "≤ 15.2 s, lease expired"],
  ])("a lost lease is explained by what the replica reported: %s", (_, reports, expected) => {
    const seen = lineAfter(
      lock(0, "a", 0),
      report(1_000, "a", "leader"),
      ...reports.filter(({ atMs }) => atMs < 3_000),
      renewed(3_000),
      ...reports.filter(({ atMs }) => atMs > 3_000),
      lock(18_200, "b", 1),
    );
    expect(gapsOf(seen)).toEqual([expected]);
  });

  it.each([
    [{ paused: true, pausedBy: "alice", pauseReason: "upgrade" }, "2.0 s, paused by alice: upgrade"],
    [{ stepDown: true }, "2.0 s, step down"],
    [{ transferTo: "b" }, "2.0 s, transfer to b"],
  ])("a release under orders %j is explained by them", (orders, expected) => {
    const before = lock(1_000, "a", 0, { orders });
    const seen = lineAfter(lock(0, "a", 0), before, lock(5_000, "", 0), lock(7_000, "b", 1));
    expect(gapsOf(seen)).toEqual([expected]);
  });

  it("the first state seen reaches back to its acquisition and expires by its last renewal", () => {
    const first = lock(100_000, "a", 7, { heldForMs: 60_000, expiresInMs: 4_000, token: undefined });
    const seen = lineAfter(first, { kind: "time", atMs: 110_000 });
    expect(termsOf(seen)).toEqual(["a, transition 7, at least 1 min 4 s, lease expired"]);
    expect(seen.line.fromMs).toBe(40_000);
  });

  it("another holder without a release, a new term of the same holder, a deletion and a broken record end a term", () => {
    const seen = lineAfter(
      lock(0, "a", 0),
      lock(1_000, "b", 1),
      lock(2_000, "b", 2),
      { kind: "deleted", atMs: 3_000 },
      lock(4_000, "c", 0),
      { kind: "unreadable", atMs: 5_000, problem: "holderIdentity is not a string: 7" },
    );
    expect(seen.line.terms.map(({ ending }) => ending)).toEqual([
      "replaced",
      "restarted",
      "deleted",
      "unreadable",
    ]);
    expect(gapsOf(seen)).toEqual(["1.0 s, lock deleted", "0 ms, record not readable"]);
    expect(describeNow(seen.line, 5_000)).toBe("The leader is unknown: holderIdentity is not a string: 7");
  });

  it("learns the token from the replica if it missed the write that began the term", () => {
    const first = lock(0, "a", 0, { token: undefined, heldForMs: 9_000 });
    const seen = lineAfter(first, report(100, "a", "leader", { token: "77" }));
    expect(seen.line.terms[0]?.token).toBe("77");
  });

  it("remembers when changes were missed", () => {
    const { timeline } = lineAfter(
      { kind: "watch", atMs: 10, up: false, message: "refused" },
      { kind: "watch", atMs: 20, up: false, message: "refused again" },
    );
    expect(timeline.trouble).toBe("refused again");
    timeline.observe({ kind: "watch", atMs: 30, up: true });
    expect(timeline.blind).toEqual([{ fromMs: 10, toMs: 30 }]);
    expect(timeline.trouble).toBeUndefined();
  });

  it("keeps what moved between the owners of shards", () => {
    const { line } = lineAfter(
      { kind: "shares", atMs: 1, owners: ["a", "b", ""] },
      { kind: "shares", atMs: 2, owners: ["a", "c", "c"] },
    );
    expect(line.moves).toEqual([
      { atMs: 2, share: 1, from: "b", to: "c" },
      { atMs: 2, share: 2, from: "", to: "c" },
    ]);
  });
});

describe("overlaps", () => {
  const sentence = ({ line, timeline }: ReturnType<typeof lineAfter>) =>
    describeOverlaps(overlapsIn(line, timeline.nowMs));

  it("are computed from records if no replica reports, and the sentence says so", () => {
    const seen = lineAfter(lock(0, "a", 0), lock(5_000, "", 0), lock(5_041, "b", 1));
    expect(sentence(seen)).toBe("0 overlaps in 2 terms, by the records only: no replica reports its work");
  });

  it("are computed from reports, for the terms that have some", () => {
    const seen = lineAfter(
      lock(0, "a", 0),
      lock(5_000, "", 0),
      lock(5_041, "b", 1),
      report(5_050, "b", "leader"),
    );
    expect(sentence(seen)).toBe(
      "0 overlaps in 2 terms, by the work that replicas reported in 1 of them, by the records in the others",
    );
  });

  it("are found where two replicas report work at the same time, also if the records are in order", () => {
    const seen = lineAfter(
      lock(0, "a", 0),
      report(10, "a", "leader"),
      lock(15_100, "b", 1),
      report(15_110, "b", "leader"),
      report(15_500, "a", "pre-follower"),
      report(17_000, "a", "follower"),
      report(18_000, "b", "follower"),
    );
    expect(sentence(seen)).toBe("1 overlap in 2 terms, by the work that replicas reported");
    expect(overlapsIn(seen.line, 18_000).overlaps).toEqual([
      { first: "b", second: "a", fromMs: 15_500, toMs: 17_000 },
    ]);
  });

  it("are not claimed for a frozen replica, which says nothing until it wakes", () => {
    const seen = lineAfter(
      lock(0, "a", 0),
      report(10, "a", "leader"),
      lock(15_100, "b", 1),
      report(15_110, "b", "leader"),
      report(20_000, "a", "pre-follower"),
      report(20_400, "a", "follower"),
    );
    expect(sentence(seen)).toBe("0 overlaps in 2 terms, by the work that replicas reported");
  });

  it("are not claimed for reports that arrive late: a release ends the work", () => {
    const seen = lineAfter(
      lock(0, "a", 0),
      report(10, "a", "leader"),
      lock(5_000, "", 0),
      lock(5_010, "b", 1),
      report(5_020, "b", "leader"),
      report(5_900, "a", "follower"),
    );
    expect(sentence(seen)).toBe("0 overlaps in 2 terms, by the work that replicas reported");
  });

  it("of a witness count to the millisecond, and replace reports", () => {
    const work = (id: string, fromMs: number, toMs: number) =>
      ({ kind: "work", atMs: toMs, id, token: id, fromMs, toMs }) as const;
    const seen = lineAfter(
      report(0, "x", "leader"),
      work("a", 0, 10),
      work("b", 10, 20),
      work("c", 20.5, 30),
    );
    expect(sentence(seen)).toBe("1 overlap in 3 terms, by the work that a witness saw");
  });
});

it("survives being sent as JSON", () => {
  const { timeline } = lineAfter(lock(0, "a", 0), renewed(3_000), report(3_100, "a", "leader"));
  const copy = Timeline.from(JSON.parse(JSON.stringify(timeline)));
  for (const one of [timeline, copy]) {
    one.observe({ ...lock(4_000, "", 0), election });
    one.observe({ ...lock(4_041, "b", 1), election });
  }
  expect(JSON.stringify(copy)).toBe(JSON.stringify(timeline));
});
