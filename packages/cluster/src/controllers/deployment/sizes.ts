/** How large each ReplicaSet of a Deployment should be. Every function returns only the sizes that change. */

import { parseTime } from "../../client/time.ts";
import type { Deployment, ReplicaSet } from "../../client/workloads.ts";
import { boundsOf, isRolling } from "./bounds.ts";
import { desiredReplicasOf, maxReplicasOf } from "./revision.ts";
import { byAge } from "./template.ts";

/** Sizes by the name of the ReplicaSet. */
export type Sizes = ReadonlyMap<string, number>;

export const sizeOf = ({ spec }: ReplicaSet) => spec.replicas ?? 0;
const availableOf = ({ status }: ReplicaSet) => status?.availableReplicas ?? 0;
/** A ReplicaSet that was just made smaller still has its pods. Until it has deleted them, nothing may take their place. */
const occupiedBy = (set: ReplicaSet) => Math.max(sizeOf(set), set.status?.replicas ?? 0);
export const sum = (sets: readonly ReplicaSet[], value: (set: ReplicaSet) => number) =>
  sets.reduce((total, set) => total + value(set), 0);
const isActive = (set: ReplicaSet) => sizeOf(set) > 0;

/** The size of the new ReplicaSet: as large as the surge allows. @param size its present size */
export function newSetSize(deployment: Deployment, all: readonly ReplicaSet[], size: number): number {
  const { replicas, maxSurge } = boundsOf(deployment);
  if (!isRolling(deployment) || size > replicas) return replicas;
  const room = Math.max(replicas + maxSurge - sum(all, occupiedBy), 0);
  return size + Math.min(room, replicas - size);
}

/** How far the old ReplicaSets can shrink: first pods that are not available, then as many as others replace. */
export function oldSetSizes(deployment: Deployment, newSet: ReplicaSet, old: readonly ReplicaSet[]): Sizes {
  const { replicas, maxUnavailable } = boundsOf(deployment);
  const all = [...old, newSet];
  const minAvailable = replicas - maxUnavailable;
  const newUnavailable = Math.max(sizeOf(newSet) - availableOf(newSet), 0);
  const sizes = new Map(old.map((set) => [set.metadata.name, sizeOf(set)]));
  const shrink = (set: ReplicaSet, by: number): number => {
    const size = sizes.get(set.metadata.name) ?? 0;
    const count = Math.max(Math.min(by, size), 0);
    sizes.set(set.metadata.name, size - count);
    return count;
  };
  let removable = sum(all, sizeOf) - minAvailable - newUnavailable;
  for (const set of byAge(old)) removable -= shrink(set, Math.min(removable, sizeOf(set) - availableOf(set)));
  // What was just removed was not available, unless the status is behind: then it is counted as available and kept.
  let surplus = sum(all, (set) => Math.min(availableOf(set), sizes.get(set.metadata.name) ?? sizeOf(set)));
  surplus = Math.min(surplus - minAvailable, removable);
  for (const set of byAge(old)) surplus -= shrink(set, surplus);
  return changed(old, sizes);
}

/** The sizes after the Deployment was scaled: in proportion, so that a rollout in progress keeps its ratio. */
export function scaledSizes(
  deployment: Deployment,
  newSet: ReplicaSet | undefined,
  old: readonly ReplicaSet[],
): Sizes {
  const { replicas, maxSurge } = boundsOf(deployment);
  const all = newSet ? [...old, newSet] : [...old];
  const active = all.filter(isActive);
  const only =
    active.length === 0 ? (newSet ?? byAge(all).at(-1)) : active.length === 1 ? active[0] : undefined;
  if (only) return changed([only], new Map([[only.metadata.name, replicas]]));
  if (active.length === 0) return new Map();
  if (newSet && isSaturated(newSet, replicas)) {
    return new Map(old.filter(isActive).map(({ metadata }) => [metadata.name, 0]));
  }
  if (!isRolling(deployment)) return new Map();
  const toAdd = (replicas > 0 ? replicas + maxSurge : 0) - sum(active, sizeOf);
  const sorted = bySize(active, toAdd > 0 ? "newer" : "older");
  const sizes = new Map<string, number>();
  let added = 0;
  for (const set of sorted) {
    const share = toAdd === 0 ? 0 : shareOf(set, deployment, toAdd, added);
    sizes.set(set.metadata.name, sizeOf(set) + share);
    added += share;
  }
  // What rounding left over goes to the largest.
  const [largest] = sorted;
  if (largest && toAdd !== 0) {
    const size = (sizes.get(largest.metadata.name) ?? 0) + toAdd - added;
    sizes.set(largest.metadata.name, Math.max(size, 0));
  }
  return sizes;
}

function isSaturated(set: ReplicaSet, replicas: number): boolean {
  return sizeOf(set) === replicas && desiredReplicasOf(set) === replicas && availableOf(set) === replicas;
}

/** How much of a change one ReplicaSet takes: the same fraction as its part of all pods. */
function shareOf(set: ReplicaSet, deployment: Deployment, toAdd: number, added: number): number {
  const { replicas, maxSurge } = boundsOf(deployment);
  const size = sizeOf(set);
  const left = toAdd - added;
  if (size === 0 || left === 0) return 0;
  if (replicas === 0) return Math.max(-size, left);
  const before = maxReplicasOf(set) || deployment.status?.replicas || 0;
  const share = before === 0 ? 0 : Math.round((size * (replicas + maxSurge)) / before) - size;
  return toAdd > 0 ? Math.min(share, left) : Math.max(share, left);
}

/** The largest first. */
function bySize(sets: readonly ReplicaSet[], then: "newer" | "older"): ReplicaSet[] {
  const created = ({ metadata }: ReplicaSet) => parseTime(metadata.creationTimestamp);
  return [...sets].sort(
    (a, b) => sizeOf(b) - sizeOf(a) || (then === "newer" ? created(b) - created(a) : created(a) - created(b)),
  );
}

function changed(sets: readonly ReplicaSet[], sizes: Sizes): Sizes {
  return new Map(
    sets
      .filter((set) => sizes.get(set.metadata.name) !== sizeOf(set))
      .map(({ metadata }) => [metadata.name, sizes.get(metadata.name) ?? 0]),
  );
}
