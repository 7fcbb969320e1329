/**
 * The map that this member wants to write: one change that does everything which can be done now. It removes dead members, adds
 * or removes this member, gives away shards whose work has stopped, changes the count, and assigns free shards.
 *
 * Upholds G1: a shard leaves its owner only in a write of that owner, after its work has stopped, or when the owner is dead.
 */
import { assignFree, eligibleMembers, moveShard, type PlanLimits, receiverOf, wantedCount } from "./plan.ts";
import {
  freeShards,
  type Incarnation,
  keyOf,
  type MapMember,
  type ShardMap,
  sameIncarnation,
} from "./shard-map.ts";

/** A shard of this member whose work has stopped. */
interface StoppedShard {
  readonly shard: number;
  readonly isMove: boolean;
  readonly isResting: boolean;
}

export interface Intentions {
  readonly me: Incarnation;
  /** The number of shards that this member wants. */
  readonly count: number;
  /** Whether this member may join: none of its work runs. */
  readonly mayJoin: boolean;
  readonly isLeaving: boolean;
  readonly stopped: readonly StoppedShard[];
  /** Whether a shard whose work ended by itself goes to another member. */
  readonly passOn: boolean;
  /** The keys of dead incarnations. */
  readonly dead: ReadonlySet<string>;
}

export interface WantedMap {
  readonly map: ShardMap;
  /** Whether the change concerns this member. Otherwise any member can make it, and they take turns. */
  readonly isOwn: boolean;
  /** The shards that this member keeps, with a new term. */
  readonly reclaimed: readonly number[];
}

/** The wanted map; undefined if nothing is to be changed. */
export function nextMap(before: ShardMap, intentions: Intentions, limits: PlanLimits): WantedMap | undefined {
  if (before.forming) return undefined;
  let map = withoutDead(before, intentions);
  let isOwn = false;
  const apply = (next: ShardMap) => {
    isOwn ||= next !== map;
    map = next;
  };
  apply(withMe(map, intentions));
  const { map: given, reclaimed } = giveAway(map, intentions, limits);
  apply(given);
  apply(withoutMeIfDone(map, intentions));
  map = assign(map, limits);
  if (map === before && reclaimed.length === 0) return undefined;
  return { map, isOwn: isOwn || reclaimed.length > 0, reclaimed };
}

/** Whether every member wants another count: all shards are given up, and assigned anew when nobody owns any. */
export function isChangingCount(map: ShardMap): boolean {
  return wantedCount(map) !== map.count;
}

export function memberOf(map: ShardMap, me: Incarnation): MapMember | undefined {
  return map.members.find((member) => sameIncarnation(member, me));
}

/**
 * The map after a member has looked for others: a new map in place of one that was deleted. Whoever holds a member lease may
 * still own shards by the old map.
 */
export function formedMap(map: ShardMap, others: readonly Incarnation[]): ShardMap {
  return { ...map, forming: false, waiting: others };
}

function withoutDead(map: ShardMap, { dead }: Intentions): ShardMap {
  const isAlive = (one: Incarnation) => !dead.has(keyOf(one));
  if (map.members.every(isAlive) && map.waiting.every(isAlive)) return map;
  return { ...map, members: map.members.filter(isAlive), waiting: map.waiting.filter(isAlive) };
}

function withMe(map: ShardMap, { me, count, mayJoin, isLeaving }: Intentions): ShardMap {
  const member = memberOf(map, me);
  if (member) {
    if (member.leaving === isLeaving) return map;
    const members = map.members.map((one) => (one === member ? { ...member, leaving: isLeaving } : one));
    return { ...map, members };
  }
  if (!mayJoin || isLeaving) return map;
  return {
    ...map,
    waiting: map.waiting.filter((other) => !sameIncarnation(other, me)),
    members: [...map.members, { ...me, count, leaving: false, shards: [] }],
  };
}

function giveAway(
  before: ShardMap,
  { me, stopped, passOn, isLeaving }: Intentions,
  limits: PlanLimits,
): { map: ShardMap; reclaimed: number[] } {
  let map = before;
  const reclaimed: number[] = [];
  for (const { shard, isMove, isResting } of stopped) {
    const giver = memberOf(map, me);
    if (!giver?.shards.includes(shard)) continue;
    if (isChangingCount(map)) map = moveShard(map, shard, undefined);
    else if (isLeaving) map = moveShard(map, shard, receiverOf(map, limits, giver, shard));
    else if (!isMove && passOn) {
      const next = map.members.find(
        (other) => other !== giver && !other.leaving && other.shards.length < limits.mostPerMember,
      );
      if (next) map = behindAllOthers(moveShard(map, shard, next), me);
      else if (!isResting) reclaimed.push(shard);
    } else if (!isResting) {
      const receiver = isMove ? receiverOf(map, limits, giver, shard) : undefined;
      if (receiver) map = moveShard(map, shard, receiver);
      else reclaimed.push(shard);
    }
  }
  return { map, reclaimed };
}

/** The member that has had its turn is the last to get another one. */
function behindAllOthers(map: ShardMap, me: Incarnation): ShardMap {
  const isMe = (member: MapMember) => sameIncarnation(member, me);
  return { ...map, members: [...map.members.filter((one) => !isMe(one)), ...map.members.filter(isMe)] };
}

function withoutMeIfDone(map: ShardMap, { me, isLeaving }: Intentions): ShardMap {
  const member = memberOf(map, me);
  if (!isLeaving || !member || member.shards.length > 0) return map;
  return { ...map, members: map.members.filter((one) => one !== member) };
}

function assign(map: ShardMap, limits: PlanLimits): ShardMap {
  if (map.waiting.length > 0 || eligibleMembers(map).length === 0) return map;
  if (!isChangingCount(map)) return assignFree(map, limits);
  const isUnowned = freeShards(map).length === map.count;
  return isUnowned ? assignFree({ ...map, count: wantedCount(map) }, limits) : map;
}
