import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { assignFree, moveShard, nextToMove, receiverOf, wantedCount } from "./plan.ts";
import { freeShards, type ShardMap } from "./shard-map.ts";
import { mapOf, member } from "./testing/maps.ts";

const noLimit = { mostPerMember: Number.POSITIVE_INFINITY };
const sizesOf = ({ members }: ShardMap) => members.map(({ shards }) => shards.length);

/** Any distribution: the owner of each shard, or nobody. */
const anyMap = fc
  .record({
    members: fc.integer({ min: 1, max: 6 }),
    owners: fc.array(fc.integer({ min: -1, max: 5 }), { minLength: 1, maxLength: 24 }),
  })
  .map(({ members, owners }) => {
    const names = Array.from({ length: members }, (_, index) => `pod-${index}`);
    const of = (index: number) => owners.flatMap((owner, shard) => (owner === index ? [shard] : []));
    return mapOf(
      owners.length,
      names.map((name, index) => member(name, of(index))),
    );
  });

/** Lets every member give away what it should, one shard at a time, until nobody has too many. */
function balance(before: ShardMap, limits = noLimit): { map: ShardMap; moves: number } {
  let map = assignFree(before, limits);
  for (let moves = 0; ; moves++) {
    const giver = map.members.find((one) => nextToMove(map, limits, one, new Set()) !== undefined);
    const shard = giver && nextToMove(map, limits, giver, new Set());
    if (!giver || shard === undefined) return { map, moves };
    const receiver = receiverOf(map, limits, giver, shard);
    if (!receiver) throw new Error(`nobody can get ${shard}`);
    map = moveShard(map, shard, receiver);
  }
}

/** Tries every even distribution: how many shards must leave their owner at least. */
function slowLeastMoves(sizes: readonly number[], count: number): number {
  const share = Math.floor(count / sizes.length);
  const larger = count % sizes.length;
  let least = Number.POSITIVE_INFINITY;
  for (let choice = 0; choice < 2 ** sizes.length; choice++) {
    const gets = sizes.map((_, index) => (choice >> index) & 1);
    if (gets.reduce((sum, one) => sum + one, 0) !== larger) continue;
    const moves = sizes.map((size, index) => Math.max(0, size - share - (gets[index] as number)));
    least = Math.min(
      least,
      moves.reduce((sum, one) => sum + one, 0),
    );
  }
  return least;
}

describe("the plan", () => {
  it("distributes every shard evenly within one", () => {
    fc.assert(
      fc.property(anyMap, (before) => {
        const { map } = balance(before);
        expect(freeShards(map)).toEqual([]);
        expect(Math.max(...sizesOf(map)) - Math.min(...sizesOf(map))).toBeLessThanOrEqual(1);
      }),
    );
  });

  it("moves exactly as many shards as the best even distribution needs", () => {
    fc.assert(
      fc.property(anyMap, (before) => {
        expect(balance(before).moves).toBe(slowLeastMoves(sizesOf(before), before.count));
      }),
      { numRuns: 500 },
    );
  });

  it("gives no permit to a member that has one", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 5 }), fc.integer({ min: 1, max: 5 }), (permits, replicas) => {
        const members = Array.from({ length: replicas }, (_, index) => member(`pod-${index}`));
        const sizes = sizesOf(assignFree(mapOf(permits, members), { mostPerMember: 1 }));
        expect(Math.max(...sizes)).toBe(1);
        expect(sizes.filter((size) => size === 1).length).toBe(Math.min(permits, replicas));
      }),
    );
  });

  it("gives nothing to a member that leaves", () => {
    const map = assignFree(mapOf(4, [member("a", [], { leaving: true }), member("b")]), noLimit);
    expect(sizesOf(map)).toEqual([0, 4]);
  });

  it("gives most of its former shards to a member that comes back", () => {
    const full = balance(
      mapOf(
        64,
        ["a", "b", "c", "d"].map((identity) => member(identity)),
      ),
    ).map;
    const former = new Set(full.members[3]?.shards);
    const without = assignFree({ ...full, members: full.members.slice(0, 3) }, noLimit);
    const again = balance({ ...without, members: [...without.members, { ...member("d"), count: 64 }] }).map;
    const returned = again.members[3]?.shards.filter((shard) => former.has(shard)) ?? [];
    expect(returned.length).toBeGreaterThan(former.size / 2);
  });

  it("lets a shard move although the owner no longer has too many, if that makes nothing worse", () => {
    const map = mapOf(5, [member("a", [0, 1, 2]), member("b", [3, 4])]);
    const [a] = map.members;
    expect(a && receiverOf(map, noLimit, a, 0)?.identity).toBe("b");
  });

  it("lets a shard stay if moving it would make the distribution worse", () => {
    const map = mapOf(4, [member("a", [0, 1]), member("b", [2, 3])]);
    const [a] = map.members;
    expect(a && receiverOf(map, noLimit, a, 0)).toBeUndefined();
  });
});

describe("wantedCount", () => {
  it("changes only when all members that stay want the same count", () => {
    const wants = (...counts: number[]) =>
      mapOf(
        4,
        counts.map((count, index) => member(`pod-${index}`, [], { count })),
      );
    expect(wantedCount(wants(16, 16))).toBe(16);
    expect(wantedCount(wants(16, 4))).toBe(4);
    expect(
      wantedCount(mapOf(4, [member("a", [], { count: 16 }), member("b", [], { count: 4, leaving: true })])),
    ).toBe(16);
    expect(wantedCount(mapOf(4, []))).toBe(4);
  });
});
