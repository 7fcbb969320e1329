/** Maps and members for tests. */
import type { MapMember, ShardMap } from "../shard-map.ts";

export function member(
  identity: string,
  shards: readonly number[] = [],
  options: Partial<MapMember> = {},
): MapMember {
  return {
    identity,
    lease: identity,
    uid: `uid-${identity}`,
    acquired: `since-${identity}`,
    leaseSeconds: 15,
    count: 8,
    leaving: false,
    shards,
    ...options,
  };
}

export function mapOf(
  count: number,
  members: readonly MapMember[],
  options: Partial<ShardMap> = {},
): ShardMap {
  const wanting = members.map((one) => ({ ...one, count: one.count === 8 ? count : one.count }));
  return { count, forming: false, waiting: [], members: wanting, write: "", ...options };
}
