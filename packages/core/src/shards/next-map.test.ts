import { describe, expect, it } from "vitest";
import { formedMap, type Intentions, isChangingCount, memberOf, nextMap } from "./next-map.ts";
import { type Incarnation, keyOf, type MapMember, type ShardMap } from "./shard-map.ts";

const incarnation = (identity: string): Incarnation => ({
  identity,
  lease: `set.${identity}`,
  uid: `uid-${identity}`,
  acquired: "then",
  leaseSeconds: 15,
});

const member = (identity: string, shards: readonly number[], fields: Partial<MapMember> = {}): MapMember => ({
  ...incarnation(identity),
  count: 4,
  leaving: false,
  shards,
  ...fields,
});

const map = (members: readonly MapMember[], fields: Partial<ShardMap> = {}): ShardMap => ({
  count: 4,
  forming: false,
  waiting: [],
  members,
  write: "w",
  ...fields,
});

const intend = (fields: Partial<Intentions> = {}): Intentions => ({
  me: incarnation("a"),
  count: 4,
  mayJoin: true,
  isLeaving: false,
  stopped: [],
  passOn: false,
  dead: new Set(),
  ...fields,
});

const shards = { mostPerMember: Number.POSITIVE_INFINITY };
const permits = { mostPerMember: 1 };
const sharesIn = (of: ShardMap | undefined) =>
  Object.fromEntries((of?.members ?? []).map(({ identity, shards: owned }) => [identity, owned]));
const stopped = (shard: number, fields = {}) => ({ shard, isMove: true, isResting: false, ...fields });

describe("nextMap", () => {
  it("changes nothing if everything is as it should be", () => {
    expect(nextMap(map([member("a", [0, 1]), member("b", [2, 3])]), intend(), shards)).toBeUndefined();
  });

  it("changes nothing in a map that is being formed", () => {
    expect(nextMap(map([], { forming: true }), intend(), shards)).toBeUndefined();
  });

  it("adds this member, which gets what is free", () => {
    const wanted = nextMap(map([member("b", [2, 3])]), intend(), shards);
    expect(sharesIn(wanted?.map)).toEqual({ b: [2, 3], a: [0, 1] });
    expect(wanted?.isOwn).toBe(true);
  });

  it("does not add this member while its old work runs, or while it is leaving", () => {
    const before = map([member("b", [0, 1, 2, 3])]);
    expect(nextMap(before, intend({ mayJoin: false }), shards)).toBeUndefined();
    expect(nextMap(before, intend({ isLeaving: true }), shards)).toBeUndefined();
  });

  it("does not wait for itself any more when it joins", () => {
    const before = map([], { waiting: [incarnation("a"), incarnation("b")] });
    const wanted = nextMap(before, intend(), shards);
    expect(wanted?.map.waiting.map(({ identity }) => identity)).toEqual(["b"]);
    // b may own shards by an earlier map.
    expect(sharesIn(wanted?.map)).toEqual({ a: [] });
  });

  it("removes dead members and those that are waited for, and shares their shards; any member may do that", () => {
    const before = map([member("a", [0, 1]), member("b", [2, 3])], { waiting: [incarnation("c")] });
    const dead = new Set([keyOf(incarnation("b")), keyOf(incarnation("c"))]);
    const wanted = nextMap(before, intend({ dead }), shards);
    expect(sharesIn(wanted?.map)).toEqual({ a: [0, 1, 2, 3] });
    expect(wanted?.map.waiting).toEqual([]);
    expect(wanted?.isOwn).toBe(false);
  });

  it("assigns nothing while a member of an earlier map may own it", () => {
    const before = map([member("a", [0, 1])], { waiting: [incarnation("c")] });
    expect(nextMap(before, intend(), shards)).toBeUndefined();
  });

  it("moves a shard whose work has stopped to the member that has room", () => {
    const before = map([member("a", [0, 1, 2, 3]), member("b", [])]);
    const wanted = nextMap(before, intend({ stopped: [stopped(3)] }), shards);
    expect(sharesIn(wanted?.map)).toEqual({ a: [0, 1, 2], b: [3] });
    expect([wanted?.isOwn, wanted?.reclaimed]).toEqual([true, []]);
  });

  it("keeps a shard with a new term if nobody has room, or if its work ended by itself and it has rested", () => {
    const before = map([member("a", [0, 1]), member("b", [2, 3])]);
    expect(nextMap(before, intend({ stopped: [stopped(1)] }), shards)).toMatchObject({
      reclaimed: [1],
      isOwn: true,
    });
    const byItself = (isResting: boolean) => intend({ stopped: [stopped(1, { isMove: false, isResting })] });
    expect(nextMap(before, byItself(false), shards)?.reclaimed).toEqual([1]);
    expect(nextMap(before, byItself(true), shards)).toBeUndefined();
  });

  it("ignores a stopped shard that is not its own any more", () => {
    const before = map([member("a", [0, 1]), member("b", [2, 3])]);
    expect(nextMap(before, intend({ stopped: [stopped(2)] }), shards)).toBeUndefined();
  });

  it("passes a permit on to the next one that waits, and goes behind all others itself", () => {
    const before = map([member("a", [0]), member("b", [1]), member("c", []), member("d", [])], { count: 2 });
    const counts = before.members.map((one) => ({ ...one, count: 2 }));
    const intentions = intend({
      count: 2,
      passOn: true,
      stopped: [stopped(0, { isMove: false, isResting: true })],
    });
    const wanted = nextMap({ ...before, members: counts }, intentions, permits);
    expect(sharesIn(wanted?.map)).toEqual({ b: [1], c: [0], d: [], a: [] });
    expect(wanted?.map.members.at(-1)?.identity).toBe("a");
  });

  it("keeps the permit if nobody else has room", () => {
    const members = [
      member("a", [0], { count: 2 }),
      member("b", [1], { count: 2 }),
      member("c", [], { count: 2, leaving: true }),
    ];
    const intentions = intend({ count: 2, passOn: true, stopped: [stopped(0, { isMove: false })] });
    expect(nextMap(map(members, { count: 2 }), intentions, permits)?.reclaimed).toEqual([0]);
  });

  it("says that it is leaving, gives away what has stopped, and removes itself with the last shard", () => {
    const leaving = intend({ isLeaving: true });
    const before = map([member("a", [0, 1]), member("b", [2, 3])]);
    const first = nextMap(before, leaving, shards);
    expect(first?.map.members[0]).toMatchObject({ leaving: true, shards: [0, 1] });
    const second = nextMap(first?.map as ShardMap, { ...leaving, stopped: [stopped(0)] }, shards);
    expect(sharesIn(second?.map)).toEqual({ a: [1], b: [0, 2, 3] });
    const third = nextMap(second?.map as ShardMap, { ...leaving, stopped: [stopped(1)] }, shards);
    expect(sharesIn(third?.map)).toEqual({ b: [0, 1, 2, 3] });
  });

  it("changes the count only when nobody owns a shard by the old one", () => {
    const wants = { count: 2 };
    const before = map([member("a", [0, 1], wants), member("b", [2], wants)]);
    expect(isChangingCount(before)).toBe(true);
    const intentions = intend({ count: 2, stopped: [stopped(0), stopped(1)] });
    const wanted = nextMap(before, intentions, shards);
    expect([wanted?.map.count, sharesIn(wanted?.map)]).toEqual([4, { a: [], b: [2] }]);
    const free = nextMap(map([member("a", [], wants), member("b", [], wants)]), intend({ count: 2 }), shards);
    expect(free?.map.count).toBe(2);
    expect(Object.values(sharesIn(free?.map)).map(({ length }) => length)).toEqual([1, 1]);
  });
});

it("isChangingCount needs all members that stay", () => {
  expect(isChangingCount(map([member("a", []), member("b", [], { count: 2 })]))).toBe(false);
  expect(isChangingCount(map([member("a", [], { leaving: true }), member("b", [], { count: 2 })]))).toBe(
    true,
  );
});

it("memberOf finds this very incarnation", () => {
  const of = map([member("a", [0])]);
  expect(memberOf(of, incarnation("a"))?.shards).toEqual([0]);
  expect(memberOf(of, { ...incarnation("a"), acquired: "later" })).toBeUndefined();
});

it("formedMap waits for all others that hold a lease", () => {
  const others = [incarnation("b")];
  expect(formedMap(map([], { forming: true }), others)).toMatchObject({ forming: false, waiting: others });
});
