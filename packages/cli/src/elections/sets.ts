/** Shards and semaphores: who their members are, and who works on what. */
import { parseShardMap } from "@tenure/core";
import { mapAnnotation, setLabels } from "@tenure/election/internal";
import type { Reader } from "./find.ts";
import { collectionPath, type LockObject } from "./lock-object.ts";
import { type ElectionState, stateOf } from "./state.ts";

export interface SetMemberState {
  readonly identity: string;
  /** Whether its lease has not expired. */
  readonly isAlive: boolean;
  readonly isLeaving: boolean;
  /** The numbers of its shards or permits. */
  readonly owns: readonly number[];
  /** Time since it last renewed its lease. */
  readonly renewedMs: number | undefined;
}

export interface SetState {
  readonly kind: keyof typeof setLabels;
  readonly namespace: string;
  readonly name: string;
  readonly count: number;
  readonly members: readonly SetMemberState[];
  /** Nobody owns these, or their owner is dead. */
  readonly unowned: readonly number[];
  /** Why the map cannot be read. */
  readonly problem?: string;
}

/** The shards and the semaphore with this name. */
export async function findSets(
  reader: Reader,
  namespace: string,
  name: string,
): Promise<readonly SetState[]> {
  if (reader.store !== undefined) return [];
  const kinds = Object.entries(setLabels) as [SetState["kind"], string][];
  const found = await Promise.all(
    kinds.map(async ([kind, label]) => {
      const { items } = await reader.serverClock.during(() =>
        reader.client.request<{ items: LockObject[] }>({
          method: "GET",
          path: collectionPath("lease", namespace),
          query: { labelSelector: `${label}=${name}` },
        }),
      );
      return setOf(kind, namespace, name, items, reader.serverClock.nowMs());
    }),
  );
  return found.filter((set) => set !== undefined);
}

/** @param objects the Leases of the set */
export function setOf(
  kind: SetState["kind"],
  namespace: string,
  name: string,
  objects: readonly LockObject[],
  nowMs: number,
): SetState | undefined {
  const text = objects
    .map(({ metadata }) => metadata.annotations?.[mapAnnotation])
    .find((annotation) => annotation !== undefined);
  if (text === undefined) return undefined;
  const common = { kind, namespace, name };
  try {
    const map = parseShardMap(text);
    const leases = new Map(objects.map((object) => [object.metadata.name, stateOf("lease", object, nowMs)]));
    const members = map.members.map((member): SetMemberState => {
      const lease: ElectionState | undefined = leases.get(member.lease);
      const isSame =
        lease?.object.metadata.uid === member.uid && lease.record.acquireTime === member.acquired;
      return {
        identity: member.identity,
        isAlive: isSame && lease.standing === "led",
        isLeaving: member.leaving,
        owns: member.shards,
        renewedMs: isSame ? lease.ageMs : undefined,
      };
    });
    const owned = new Set(members.filter(({ isAlive }) => isAlive).flatMap(({ owns }) => owns));
    const unowned = Array.from({ length: map.count }, (_, index) => index).filter(
      (index) => !owned.has(index),
    );
    return { ...common, count: map.count, members, unowned };
  } catch (error) {
    return { ...common, count: 0, members: [], unowned: [], problem: (error as Error).message };
  }
}

/** `0-3, 7` for 0, 1, 2, 3, 7. */
export function formatIndexes(indexes: readonly number[]): string {
  const ranges: [number, number][] = [];
  for (const index of indexes) {
    const last = ranges.at(-1);
    if (last && last[1] === index - 1) last[1] = index;
    else ranges.push([index, index]);
  }
  return ranges.map(([from, to]) => (from === to ? String(from) : `${from}-${to}`)).join(", ");
}
