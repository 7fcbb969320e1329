import { describe, expect, it } from "vitest";
import { type Change, History } from "./history.ts";
import type { ElectionState } from "./state.ts";

type Seen = Parameters<History["observe"]>[0];

function held(holder: string, transitions: number, more: Partial<Seen> = {}): Seen {
  const standing: ElectionState["standing"] = holder === "" ? "released" : "led";
  return {
    standing,
    record: {
      holderIdentity: holder,
      leaseDurationSeconds: holder === "" ? 1 : 15,
      acquireTime: `of ${holder} ${transitions}`,
      renewTime: undefined,
      leaseTransitions: transitions,
    },
    orders: { paused: false, stepDown: false },
    ...more,
  };
}

const kinds = (changes: readonly Change[]) => changes.map(({ kind }) => kind);

describe("which events are changes", () => {
  it("a renewal is not; a handover is, with the time without a leader", () => {
    const history = new History();
    expect(kinds(history.observe(held("a", 0, { heldForMs: 5_000 }), 10_000))).toEqual(["leads"]);
    expect(history.observe(held("a", 0), 13_000)).toEqual([]);
    expect(history.observe(held("", 0), 14_000)).toEqual([
      { kind: "released", atMs: 14_000, other: "a", heldMs: 9_000, transitions: 0 },
    ]);
    const [leads] = history.observe(held("b", 1), 14_250);
    expect(leads).toMatchObject({ kind: "leads", leader: "b", other: "a", gapMs: 250 });
    expect(history.spans).toEqual([
      { holder: "a", fromMs: 5_000, toMs: 14_000 },
      { holder: "b", fromMs: 14_250 },
    ]);
  });

  it("an expiry is, exactly one lease duration after the last change that was seen", () => {
    const history = new History();
    history.observe(held("a", 0, { expiresInMs: 12_000 }), 0);
    expect(history.expiresAtMs).toBe(12_000);
    history.observe(held("a", 0, { expiresInMs: 14_000 }), 3_000);
    expect(history.tick(17_999)).toEqual([]);
    expect(history.tick(18_001)).toEqual([{ kind: "expired", atMs: 18_000, other: "a", heldMs: 18_000 }]);
    expect(history.tick(19_000)).toEqual([]);
    expect(history.leader).toBeUndefined();
    expect(history.observe(held("b", 1), 18_500)).toMatchObject([{ kind: "leads", gapMs: 500 }]);
  });

  it("a takeover without a gap ends one term and begins the next", () => {
    const history = new History();
    history.observe(held("a", 0), 0);
    expect(history.observe(held("b", 1), 100)).toMatchObject([{ kind: "leads", leader: "b", other: "a" }]);
    expect(history.spans.map(({ toMs }) => toMs)).toEqual([100, undefined]);
  });

  it("a restart with the same identity is a new term", () => {
    const history = new History();
    history.observe(held("a", 0), 0);
    const [again] = history.observe(held("a", 1), 100);
    expect(again).toMatchObject({ kind: "leads", leader: "a", other: "a", transitions: 1 });
    // client-go writes its identity again with the old acquireTime, or with a new one but the same transitions.
    const { record } = held("a", 1);
    expect(kinds(history.observe(held("a", 1, { record: { ...record, leaseTransitions: 2 } }), 200))).toEqual(
      ["leads"],
    );
    const anew = { ...record, leaseTransitions: 2, acquireTime: "later" };
    expect(kinds(history.observe(held("a", 1, { record: anew }), 300))).toEqual(["leads"]);
  });

  it("a holder that renews after its lease expired leads again", () => {
    const history = new History();
    history.observe(held("a", 0), 0);
    history.tick(15_000);
    expect(history.observe(held("a", 0), 16_000)).toMatchObject([{ kind: "leads", gapMs: 1_000 }]);
  });

  it("the first state is: who leads, or that nobody does", () => {
    expect(kinds(new History().observe(held("", 3), 0))).toEqual(["vacant"]);
    const expired = new History();
    expect(kinds(expired.observe(held("a", 0, { standing: "expired", expiresInMs: -5_000 }), 0))).toEqual([
      "expired",
    ]);
    expect(expired.observe(held("b", 1), 1_000)).toMatchObject([{ kind: "leads", gapMs: 6_000, other: "a" }]);
  });

  it("a deletion is, once", () => {
    const history = new History();
    expect(history.deleted(0)).toEqual([]);
    history.observe(held("a", 0), 0);
    expect(history.deleted(1_000)).toMatchObject([{ kind: "deleted", other: "a" }]);
    expect(history.deleted(2_000)).toEqual([]);
  });

  it("orders are, when they are given and when they are withdrawn", () => {
    const history = new History();
    const orders = { paused: true, stepDown: true, transferTo: "b" };
    history.observe(held("a", 0), 0);
    expect(kinds(history.observe(held("a", 0, { orders }), 1))).toEqual(["paused", "step-down", "transfer"]);
    expect(kinds(history.observe(held("a", 0, { orders }), 2))).toEqual([]);
    const accepted = { ...orders, transferAccepted: true };
    expect(kinds(history.observe(held("a", 0, { orders: accepted }), 3))).toEqual(["transfer-accepted"]);
    expect(kinds(history.observe(held("a", 0, { orders: accepted }), 4))).toEqual([]);
    expect(kinds(history.observe(held("a", 0), 5))).toEqual(["resumed"]);
  });
});
