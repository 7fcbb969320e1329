/**
 * The map of a set of shards: who its members are and who owns which shard. It is stored in one object and changed only by
 * compare-and-swap. Ownership lasts while the member lease that it names lasts, so nothing here has to be renewed.
 */

/** One uninterrupted membership. A member that loses its lease and acquires it again is a new incarnation. */
export interface Incarnation {
  readonly identity: string;
  /** The name of the object with the member lease. */
  readonly lease: string;
  /** The uid of that object. */
  readonly uid: string;
  /** The acquireTime in the lease. With the uid, it tells incarnations apart. */
  readonly acquired: string;
  readonly leaseSeconds: number;
}

export interface MapMember extends Incarnation {
  /** The number of shards that this member is configured for. The map changes its count when all members agree. */
  readonly count: number;
  /** It gives away its shards and gets no others. */
  readonly leaving: boolean;
  /** In ascending order. */
  readonly shards: readonly number[];
}

export interface ShardMap {
  /** The number of shards that is in force. */
  readonly count: number;
  /** The map was just created, and nobody has looked yet for members that may own shards by an earlier map. */
  readonly forming: boolean;
  /** Incarnations that may own shards by an earlier map. No shard is assigned until each has joined this map or is dead. */
  readonly waiting: readonly Incarnation[];
  readonly members: readonly MapMember[];
  /** Different in every write, so that every write gives a new revision. */
  readonly write: string;
}

/** The largest count: the map of that many shards stays well below the size limit of an annotation. */
export const mostShards = 4_096;

export function sameIncarnation(a: Incarnation, b: Incarnation): boolean {
  return a.lease === b.lease && a.uid === b.uid && a.acquired === b.acquired;
}

/** A key for maps and sets of incarnations. */
export function keyOf({ lease, uid, acquired }: Incarnation): string {
  return `${lease} ${uid} ${acquired}`;
}

/** The shards that nobody owns, in ascending order. */
export function freeShards({ count, members }: ShardMap): number[] {
  const owned = new Set(members.flatMap(({ shards }) => shards));
  return Array.from({ length: count }, (_, shard) => shard).filter((shard) => !owned.has(shard));
}

export function ownerOf({ members }: ShardMap, shard: number): MapMember | undefined {
  return members.find(({ shards }) => shards.includes(shard));
}

/** The text that is stored. */
export function formatShardMap(map: ShardMap): string {
  return JSON.stringify({
    version: 1,
    count: map.count,
    ...(map.forming && { forming: true }),
    ...(map.waiting.length > 0 && { waiting: map.waiting }),
    members: map.members.map(({ leaving, shards, ...member }) => ({
      ...member,
      ...(leaving && { leaving }),
      shards: formatShards(shards),
    })),
    write: map.write,
  });
}

/** Throws if the text is not a map. */
export function parseShardMap(text: string): ShardMap {
  const value = parseJson(text);
  if (!isObject(value) || value.version !== 1) throw unreadable("it has no version that this release knows");
  const { count, forming = false, waiting = [], members, write = "" } = value;
  if (!isCount(count)) throw unreadable(`its count is not from 1 to ${mostShards}`);
  if (!Array.isArray(waiting) || !Array.isArray(members)) throw unreadable("its members are not a list");
  const map: ShardMap = {
    count,
    forming: forming === true,
    waiting: waiting.map(parseIncarnation),
    members: members.map((member) => parseMember(member, count)),
    write: String(write),
  };
  const owned = map.members.flatMap(({ shards }) => shards);
  if (new Set(owned).size !== owned.length) throw unreadable("a shard has two owners");
  if (new Set(map.members.map(keyOf)).size !== map.members.length)
    throw unreadable("a member is listed twice");
  return map;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw unreadable("it is not JSON");
  }
}

function parseMember(value: unknown, count: number): MapMember {
  const { count: wanted, leaving, shards } = isObject(value) ? value : {};
  if (!isCount(wanted)) throw unreadable(`the count of a member is not from 1 to ${mostShards}`);
  return {
    ...parseIncarnation(value),
    count: wanted,
    leaving: leaving === true,
    shards: parseShards(shards, count),
  };
}

function parseIncarnation(value: unknown): Incarnation {
  const { identity, lease, uid, acquired, leaseSeconds } = isObject(value) ? value : {};
  const texts = [identity, lease, uid, acquired];
  if (!texts.every((text) => typeof text === "string")) throw unreadable("a member has no identity or lease");
  if (typeof leaseSeconds !== "number" || !(leaseSeconds > 0))
    throw unreadable("a member has no lease duration");
  const [id, name, objectUid, since] = texts as [string, string, string, string];
  return { identity: id, lease: name, uid: objectUid, acquired: since, leaseSeconds };
}

/** "0-3,7": ranges, so that a person can read the map of many shards. */
export function formatShards(shards: readonly number[]): string {
  const parts: string[] = [];
  for (let from = 0; from < shards.length; ) {
    let to = from;
    while (shards[to + 1] === (shards[to] as number) + 1) to += 1;
    parts.push(from === to ? `${shards[from]}` : `${shards[from]}-${shards[to]}`);
    from = to + 1;
  }
  return parts.join(",");
}

function parseShards(text: unknown, count: number): number[] {
  if (text === "") return [];
  if (typeof text !== "string") throw unreadable("the shards of a member are not a text");
  const shards: number[] = [];
  for (const part of text.split(",")) {
    const [, first = "", last = first] = /^(\d{1,4})(?:-(\d{1,4}))?$/.exec(part) ?? [];
    if (first === "" || Number(last) >= count)
      throw unreadable("the shards of a member are not shards of this map");
    for (let shard = Number(first); shard <= Number(last); shard++) shards.push(shard);
  }
  return shards.sort((a, b) => a - b);
}

function isCount(value: unknown): value is number {
  return typeof value === "number" && Number.isInteger(value) && value >= 1 && value <= mostShards;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function unreadable(why: string): Error {
  return new Error(`the map of the shards is unreadable: ${why}`);
}
