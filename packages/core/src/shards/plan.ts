/**
 * Who should own which shard. The plan starts from the present owners and moves as few shards as an even distribution allows.
 * Among equal choices, rendezvous hashing decides, so that a member which leaves and comes back tends to get the same shards.
 * A plan is a pure function of the map: every member computes the same one.
 */
import { freeShards, type MapMember, type ShardMap } from "./shard-map.ts";

export interface PlanLimits {
  /** How many shards a member may own. Infinity for shards, 1 for permits. */
  readonly mostPerMember: number;
}

/** The members that may get shards. */
export function eligibleMembers({ members }: ShardMap): readonly MapMember[] {
  return members.filter(({ leaving }) => !leaving);
}

/** The count that the map should have: another one only if all members that stay want the same one. */
export function wantedCount(map: ShardMap): number {
  const counts = new Set(eligibleMembers(map).map(({ count }) => count));
  const [only] = counts;
  return counts.size === 1 && only !== undefined ? only : map.count;
}

/**
 * How many shards each of the eligible members should own: even within one. The members with the most shards get the larger
 * shares, because then the fewest shards have to move.
 */
function targetSizes(map: ShardMap, { mostPerMember }: PlanLimits): ReadonlyMap<MapMember, number> {
  const members = [...eligibleMembers(map)].sort(
    (a, b) => b.shards.length - a.shards.length || compare(a.identity, b.identity),
  );
  const share = Math.floor(map.count / members.length);
  const larger = map.count % members.length;
  return new Map(
    members.map((member, rank) => [member, Math.min(mostPerMember, share + (rank < larger ? 1 : 0))]),
  );
}

/** Gives each free shard to a member that has room. */
export function assignFree(map: ShardMap, limits: PlanLimits): ShardMap {
  const free = freeShards(map);
  if (free.length === 0 || eligibleMembers(map).length === 0) return map;
  const room = new Map<MapMember, number>();
  for (const [member, target] of targetSizes(map, limits)) room.set(member, target - member.shards.length);
  const gained = new Map<MapMember, number[]>();
  for (const shard of free) {
    const member = preferred(
      [...room.keys()].filter((one) => (room.get(one) ?? 0) > 0),
      shard,
    );
    if (!member) continue;
    room.set(member, (room.get(member) ?? 0) - 1);
    gained.set(member, [...(gained.get(member) ?? []), shard]);
  }
  if (gained.size === 0) return map;
  const members = map.members.map((member) => {
    const shards = gained.get(member);
    return shards ? { ...member, shards: sorted([...member.shards, ...shards]) } : member;
  });
  return { ...map, members };
}

/**
 * The shard that this member should give away next; undefined if it owns no more than its share.
 * @param moving the shards that it is giving away already
 * @param excluded the shards that cannot be chosen
 */
export function nextToMove(
  map: ShardMap,
  limits: PlanLimits,
  giver: MapMember,
  moving: ReadonlySet<number>,
  excluded: ReadonlySet<number> = moving,
): number | undefined {
  const targets = targetSizes(map, limits);
  const excess = giver.shards.length - (targets.get(giver) ?? 0) - moving.size;
  if (excess <= 0) return undefined;
  const receivers = [...targets].filter(([member, target]) => member.shards.length < target);
  let best: { shard: number; weight: number } | undefined;
  for (const shard of giver.shards) {
    if (excluded.has(shard)) continue;
    for (const [member] of receivers) {
      const weight = weightOf(member, shard);
      if (!best || weight > best.weight) best = { shard, weight };
    }
  }
  return best?.shard;
}

/**
 * The member that gets a shard whose work its owner has stopped; undefined if the owner should keep it. It also moves if that
 * makes the distribution no worse: the plan may have changed while the work stopped, and the interruption has already happened.
 */
export function receiverOf(
  map: ShardMap,
  limits: PlanLimits,
  giver: MapMember,
  shard: number,
): MapMember | undefined {
  const targets = targetSizes(map, limits);
  const others = [...targets].filter(([member]) => member !== giver);
  const withRoom = others.filter(([member, target]) => member.shards.length < target);
  const giverHasTooMany = giver.shards.length > (targets.get(giver) ?? 0);
  if (giverHasTooMany && withRoom.length > 0) {
    return preferred(
      withRoom.map(([member]) => member),
      shard,
    );
  }
  const smaller = others.filter(
    ([member]) => member.shards.length < giver.shards.length && member.shards.length < limits.mostPerMember,
  );
  const least = Math.min(...smaller.map(([member]) => member.shards.length));
  return preferred(
    smaller.map(([member]) => member).filter((member) => member.shards.length === least),
    shard,
  );
}

/** The map with the shard moved to another member, or to nobody. */
export function moveShard(map: ShardMap, shard: number, to: MapMember | undefined): ShardMap {
  const members = map.members.map((member) => {
    const without = member.shards.includes(shard)
      ? { ...member, shards: member.shards.filter((other) => other !== shard) }
      : member;
    return member === to ? { ...without, shards: sorted([...without.shards, shard]) } : without;
  });
  return { ...map, members };
}

function preferred(members: readonly MapMember[], shard: number): MapMember | undefined {
  let best: { member: MapMember; weight: number } | undefined;
  for (const member of members) {
    const weight = weightOf(member, shard);
    const isBetter =
      !best ||
      weight > best.weight ||
      (weight === best.weight && compare(member.identity, best.member.identity) < 0);
    if (isBetter) best = { member, weight };
  }
  return best?.member;
}

/** The rendezvous hash of a member and a shard: FNV-1a with 32 bits, then mixed, because FNV alone mixes the last digits little. */
function weightOf({ identity }: MapMember, shard: number): number {
  let hash = 0x811c9dc5;
  const text = `${identity}/${shard}`;
  for (let index = 0; index < text.length; index++) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  }
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}

function sorted(shards: number[]): number[] {
  return shards.sort((a, b) => a - b);
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
