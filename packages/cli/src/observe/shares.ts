import { parseShardMap } from "@tenure/core";
import type { LockObject } from "../elections/lock-object.ts";

const mapAnnotation = "tenure.dev/map";

/** The owner of each shard or permit of a set, "" for none; undefined if this Lease does not hold the map of a set. */
export function sharesIn({ metadata: { annotations } }: LockObject): string[] | undefined {
  const text = annotations?.[mapAnnotation];
  if (text === undefined) return undefined;
  try {
    const { count, members } = parseShardMap(text);
    const owners = Array.from({ length: count }, () => "");
    for (const { identity, shards } of members) for (const shard of shards) owners[shard] = identity;
    return owners;
  } catch {
    // A map that cannot be read assigns nothing that could be shown.
    return [];
  }
}

/** Whether this Lease says that a member of a set is alive. */
export function isMemberOfSet({ metadata: { labels } }: LockObject): boolean {
  return labels?.["tenure.dev/shards"] !== undefined || labels?.["tenure.dev/permits"] !== undefined;
}
