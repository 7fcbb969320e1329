import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { formatShardMap, formatShards, freeShards, mostShards, ownerOf, parseShardMap } from "./shard-map.ts";
import { mapOf, member } from "./testing/maps.ts";

describe("the text of a map", () => {
  it("lists shards as ranges, so that a person can read it", () => {
    expect(formatShards([0, 1, 2, 5, 7, 8])).toBe("0-2,5,7-8");
    expect(formatShards([])).toBe("");
  });

  it("gives the same map again", () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom(0, 1, 2, 3), { minLength: 1, maxLength: 60 }), (owners) => {
        const members = ["a", "b", "c"].map((identity, index) =>
          member(
            identity,
            owners.flatMap((owner, shard) => (owner === index ? [shard] : [])),
            { leaving: index === 1 },
          ),
        );
        const map = mapOf(owners.length, members, { waiting: [incarnation("d")], write: "a 7" });
        expect(parseShardMap(formatShardMap(map))).toEqual(map);
      }),
    );
  });

  it.each([
    ["", "it is not JSON"],
    ["{}", "it has no version that this release knows"],
    ['{"version":1,"count":0,"members":[]}', "its count is not from 1 to 4096"],
    ['{"version":1,"count":5000,"members":[]}', "its count is not from 1 to 4096"],
    ['{"version":1,"count":2}', "its members are not a list"],
    ['{"version":1,"count":2,"members":[{"count":2,"shards":""}]}', "a member has no identity or lease"],
  ])("is rejected if it is %j", (text, reason) => {
    expect(() => parseShardMap(text)).toThrow(`the map of the shards is unreadable: ${reason}`);
  });

  it.each([
    ["a shard of two owners", [member("a", [0]), member("b", [0])], "a shard has two owners"],
    ["a member twice", [member("a", [0]), member("a", [1])], "a member is listed twice"],
    ["a shard beyond the count", [member("a", [2])], "the shards of a member are not shards of this map"],
  ])("is rejected with %s", (_, members, reason) => {
    expect(() => parseShardMap(formatShardMap(mapOf(2, members)))).toThrow(reason);
  });

  it("of the largest set stays far below the limit of 256 KiB for annotations", () => {
    const shards = Array.from({ length: mostShards }, (_, shard) => shard);
    const members = ["even", "odd"].map((identity, index) =>
      member(
        identity,
        shards.filter((one) => one % 2 === index),
      ),
    );
    expect(formatShardMap(mapOf(mostShards, members)).length).toBeLessThan(32_000);
  });
});

it("finds the owner of a shard, and the shards without one", () => {
  const map = mapOf(4, [member("a", [1]), member("b", [3])]);
  expect(ownerOf(map, 3)?.identity).toBe("b");
  expect(ownerOf(map, 0)).toBeUndefined();
  expect(freeShards(map)).toEqual([0, 2]);
});

function incarnation(identity: string) {
  const { lease, uid, acquired, leaseSeconds } = member(identity);
  return { identity, lease, uid, acquired, leaseSeconds };
}
