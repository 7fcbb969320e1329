/**
 * Which shard a key belongs to. The hash is FNV-1a with 64 bits over the key's UTF-8 bytes, and a shard is a half-open range of
 * hashes: both as in Kubernetes' shardSelector, so that the API server can filter a watch for a shard.
 */

/** From `start` up to, but without, `end`. */
export interface HashRange {
  readonly start: bigint;
  readonly end: bigint;
}

const hashBits = 64n;
const two32 = 4_294_967_296;
/** The FNV prime is 2^40 + 435. */
const primeLow = 435;

export function hashOfKey(key: string): bigint {
  let high = 0xcbf29ce4;
  let low = 0x84222325;
  for (const byte of new TextEncoder().encode(key)) {
    low = (low ^ byte) >>> 0;
    // The product of 64-bit numbers, modulo 2^64, in halves that a double can hold.
    const product = low * primeLow;
    high = (high * primeLow + Math.floor(product / two32) + ((low << 8) >>> 0)) >>> 0;
    low = product >>> 0;
  }
  return (BigInt(high) << 32n) | BigInt(low);
}

export function shardOfKey(key: string, count: number): number {
  return Number((hashOfKey(key) * BigInt(count)) >> hashBits);
}

/** The hashes of a shard. The ranges of all shards cover every hash exactly once. */
export function rangeOfShard(shard: number, count: number): HashRange {
  return { start: firstHash(shard, count), end: firstHash(shard + 1, count) };
}

/** The text of a Kubernetes shardSelector for the range. */
export function shardSelector({ start, end }: HashRange, field = "object.metadata.uid"): string {
  return `shardRange(${field}, '${hexHash(start)}', '${hexHash(end)}')`;
}

/** 16 digits, because Kubernetes compares the texts: a shorter text is a smaller number. */
export function hexHash(hash: bigint): string {
  return `0x${hash.toString(16).padStart(16, "0")}`;
}

function firstHash(shard: number, count: number): bigint {
  const divisor = BigInt(count);
  // Rounded up: the smallest hash for which `shardOfKey` gives this shard.
  return ((BigInt(shard) << hashBits) + divisor - 1n) / divisor;
}
