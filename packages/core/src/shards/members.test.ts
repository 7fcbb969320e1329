import { describe, expect, it } from "vitest";
import type { LeaderRecord } from "../record.ts";
import {
  deadAtMs,
  expiresAtMs,
  incarnationIn,
  isUpToDate,
  leaseOf,
  mustBeListedAtMs,
  othersInMap,
} from "./members.ts";
import { type Incarnation, keyOf, type ShardMap } from "./shard-map.ts";
import { initialSetState } from "./step.ts";
import type { LeaseView, SetConfig, SetState } from "./types.ts";

const b: Incarnation = { identity: "b", lease: "set.b", uid: "uid-b", acquired: "then", leaseSeconds: 15 };
const me: Incarnation = { ...b, identity: "a", lease: "set.a", uid: "uid-a" };

const record = (fields: Partial<LeaderRecord> = {}): LeaderRecord => ({
  holderIdentity: "b",
  leaseDurationSeconds: 15,
  acquireTime: "then",
  renewTime: "now",
  leaseTransitions: 0,
  ...fields,
});

const lease = (fields: Partial<LeaderRecord> = {}, uid = "uid-b"): LeaseView => ({
  name: "set.b",
  uid,
  revision: 7n,
  record: record(fields),
});

const map = (fields: Partial<ShardMap> = {}): ShardMap => ({
  count: 4,
  forming: false,
  waiting: [],
  members: [],
  write: "w",
  ...fields,
});

/** A state in which everything up to revision 10 is known, and the lease of b since 1,000 ms. */
function state(view: LeaseView | undefined, fields: Partial<SetState> = {}): SetState {
  return {
    ...initialSetState,
    revision: 10n,
    map: { kind: "present", view: { uid: "m", revision: 9n, map: map() }, sinceMs: 0 },
    leases: new Map(view ? [[view.name, { view, sinceMs: 1_000 }]] : []),
    ...fields,
  };
}

describe("deadAtMs", () => {
  it.each<[string, LeaseView, number | undefined]>([
    ["is unknown while the member holds its lease", lease(), undefined],
    [
      "is when its release was seen",
      lease({ holderIdentity: "", leaseDurationSeconds: 1, acquireTime: "later" }),
      1_000,
    ],
    [
      "is when a later incarnation was seen, which waited for its end",
      lease({ acquireTime: "later" }),
      1_000,
    ],
    [
      "is a lease after somebody removed the holder by hand",
      lease({ holderIdentity: "", leaseDurationSeconds: 15 }),
      16_000,
    ],
  ])("%s", (_, view, expected) => expect(deadAtMs(state(view), b)).toBe(expected));

  it("is a lease after the lease was gone, once a list from after that time has not shown it either", () => {
    const goneSinceMs = new Map([[keyOf(b), 2_000]]);
    expect(deadAtMs(state(undefined, { goneSinceMs, lastListMs: 16_999 }), b)).toBeUndefined();
    expect(deadAtMs(state(undefined, { goneSinceMs, lastListMs: 17_000 }), b)).toBe(17_000);
    expect(deadAtMs(state(undefined, { lastListMs: 17_000 }), b)).toBeUndefined();
  });

  it("takes a Lease with another uid for gone", () => {
    const goneSinceMs = new Map([[keyOf(b), 2_000]]);
    expect(deadAtMs(state(lease({}, "uid-new"), { goneSinceMs, lastListMs: 17_000 }), b)).toBe(17_000);
  });

  it("is unknown while the leases may be older than the map", () => {
    const released = lease({ holderIdentity: "", leaseDurationSeconds: 1 });
    expect(deadAtMs(state(released, { revision: 8n }), b)).toBeUndefined();
    expect(deadAtMs(state(released, { revision: 9n }), b)).toBe(1_000);
  });
});

describe("mustBeListedAtMs", () => {
  const goneSinceMs = new Map([[keyOf(b), 2_000]]);

  it("is a lease after the lease was gone, until that list has been made", () => {
    expect(mustBeListedAtMs(state(undefined, { goneSinceMs, lastListMs: 16_999 }), b)).toBe(17_000);
    expect(mustBeListedAtMs(state(undefined, { goneSinceMs, lastListMs: 17_000 }), b)).toBeUndefined();
  });

  it("is never for a lease that is there", () =>
    expect(mustBeListedAtMs(state(lease(), { goneSinceMs }), b)).toBeUndefined());
});

describe("expiresAtMs", () => {
  it("counts from when the record was seen, by the longer of both durations", () => {
    expect(expiresAtMs(state(lease()), b)).toBe(16_000);
    expect(expiresAtMs(state(lease({ leaseDurationSeconds: 20 })), b)).toBe(21_000);
    expect(expiresAtMs(state(lease({ leaseDurationSeconds: 5 })), b)).toBe(16_000);
    expect(expiresAtMs(state(lease({ leaseDurationSeconds: undefined })), b)).toBe(16_000);
  });

  it.each<[string, LeaseView | undefined]>([
    ["released", lease({ holderIdentity: "" })],
    ["acquired again", lease({ acquireTime: "later" })],
    ["replaced", lease({}, "uid-new")],
    ["gone", undefined],
  ])("is undefined for a lease that is %s", (_, view) => expect(expiresAtMs(state(view), b)).toBeUndefined());
});

describe("othersInMap", () => {
  const member = (of: Incarnation) => ({ ...of, count: 4, leaving: false, shards: [] });
  const view = {
    uid: "m",
    revision: 9n,
    map: map({ members: [member(me), member(b)], waiting: [{ ...b, uid: "old" }] }),
  };
  const known = state(undefined, { map: { kind: "present", view, sinceMs: 0 } });

  it("are all members and those that are waited for, without this member", () => {
    const membership = { kind: "held", me, isEnding: false } as const;
    expect(othersInMap({ ...known, membership }).map(({ uid }) => uid)).toEqual(["uid-b", "old"]);
    expect(othersInMap(known).map(({ uid }) => uid)).toEqual(["uid-a", "uid-b", "old"]);
  });

  it("are none without a map", () => expect(othersInMap(initialSetState)).toEqual([]));
});

it("isUpToDate compares the leases with the map", () => {
  expect(isUpToDate(state(undefined, { revision: 9n }))).toBe(true);
  expect(isUpToDate(state(undefined, { revision: 8n }))).toBe(false);
  expect(isUpToDate(initialSetState)).toBe(false);
});

it("leaseOf finds the lease of this very object", () => {
  expect(leaseOf(state(lease()), b)?.view.uid).toBe("uid-b");
  expect(leaseOf(state(lease({}, "uid-new")), b)).toBeUndefined();
});

it("incarnationIn reads a lease, and assumes its own duration if there is none", () => {
  const config = { leaseDurationMs: 9_000 } as SetConfig;
  expect(incarnationIn(config, lease())).toEqual(b);
  for (const leaseDurationSeconds of [undefined, 0, -1])
    expect(incarnationIn(config, lease({ leaseDurationSeconds })).leaseSeconds).toBe(9);
  expect(incarnationIn(config, lease({ acquireTime: undefined })).acquired).toBe("");
});
