import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { hashOfKey, hexHash, rangeOfShard, shardOfKey, shardSelector } from "./ranges.ts";

/** FNV-1a as its authors define it, without any cleverness. */
function slowHash(key: string): bigint {
  let hash = 0xcbf29ce484222325n;
  for (const byte of new TextEncoder().encode(key))
    hash = ((hash ^ BigInt(byte)) * 0x100000001b3n) % (1n << 64n);
  return hash;
}

describe("hashOfKey", () => {
  it.each([
    ["", "0xcbf29ce484222325"],
    ["a", "0xaf63dc4c8601ec8c"],
    ["foobar", "0x85944171f73967e8"],
  ])("gives the published value for %j", (key, hash) => {
    expect(hexHash(hashOfKey(key))).toBe(hash);
  });

  it("is FNV-1a with 64 bits for every text", () => {
    fc.assert(
      fc.property(fc.string({ unit: "grapheme" }), (key) => {
        expect(hashOfKey(key)).toBe(slowHash(key));
      }),
    );
  });
});

describe("the ranges of all shards", () => {
  it("cover every hash exactly once", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 4_096 }), (count) => {
        const ranges = Array.from({ length: count }, (_, shard) => rangeOfShard(shard, count));
        expect(ranges[0]?.start).toBe(0n);
        expect(ranges.at(-1)?.end).toBe(1n << 64n);
        const gaps = ranges.slice(1).filter(({ start }, index) => start !== ranges[index]?.end);
        expect(gaps).toEqual([]);
      }),
    );
  });

  it("contain the keys of their shard", () => {
    fc.assert(
      fc.property(fc.string(), fc.integer({ min: 1, max: 4_096 }), (key, count) => {
        const { start, end } = rangeOfShard(shardOfKey(key, count), count);
        expect(start <= hashOfKey(key) && hashOfKey(key) < end).toBe(true);
      }),
    );
  });
});

describe("shardSelector", () => {
  it("is the text that Kubernetes documents", () => {
    expect(shardSelector(rangeOfShard(0, 2))).toBe(
      "shardRange(object.metadata.uid, '0x0000000000000000', '0x8000000000000000')",
    );
    expect(shardSelector(rangeOfShard(1, 2), "object.metadata.namespace")).toBe(
      "shardRange(object.metadata.namespace, '0x8000000000000000', '0x10000000000000000')",
    );
  });
});
