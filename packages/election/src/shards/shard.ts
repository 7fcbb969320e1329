import { type HashRange, hashOfKey, rangeOfShard, shardSelector } from "@tenure/core";

/** One part of the keys: those whose hash is in its range. */
export class Shard {
  /** From 0 to `count` - 1. */
  readonly index: number;
  /** The number of shards that is in force. During a change of the count it may differ from the configured one. */
  readonly count: number;
  /** The hashes of its keys, from `start` up to, but without, `end`. The hash is FNV-1a with 64 bits. */
  readonly range: HashRange;

  constructor(index: number, count: number) {
    this.index = index;
    this.count = count;
    this.range = rangeOfShard(index, count);
  }

  /** The shardSelector for lists and watches of a Kubernetes API server that supports it: objects whose uid is a key of this shard. */
  get selector(): string {
    return shardSelector(this.range);
  }

  /** Whether the key belongs to this shard. Every key belongs to exactly one. */
  has(key: string): boolean {
    const hash = hashOfKey(key);
    return this.range.start <= hash && hash < this.range.end;
  }
}
