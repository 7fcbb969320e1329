import { expect, it } from "vitest";
import { Shard } from "./shard.ts";

it("every key belongs to exactly one shard", () => {
  const shards = Array.from({ length: 7 }, (_, index) => new Shard(index, 7));
  for (const key of ["", "tenant-1", "tenant-2", "ä", "0b1e8d5c-5f0e-4f3c-8a52-3f4f0a4c7f0d"]) {
    expect(shards.filter((shard) => shard.has(key)).length).toBe(1);
  }
});

it("gives the selector of Kubernetes for its range", () => {
  expect(new Shard(1, 2).selector).toBe(
    "shardRange(object.metadata.uid, '0x8000000000000000', '0x10000000000000000')",
  );
  expect(new Shard(0, 1).range).toEqual({ start: 0n, end: 1n << 64n });
});
