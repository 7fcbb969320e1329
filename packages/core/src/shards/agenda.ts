/**
 * What this member does next for its set, and when. As in an election, this is the only place that decides by time: `stepSet`
 * runs the tasks that are due, and the caller sets one timer to the earliest.
 */
import { isRelease } from "../record.ts";
import {
  deadAtMs,
  expiresAtMs,
  incarnationIn,
  isHeld,
  isUpToDate,
  mustBeListedAtMs,
  othersInMap,
} from "./members.ts";
import { formedMap, memberOf, nextMap } from "./next-map.ts";
import { type Incarnation, keyOf, type ShardMap, sameIncarnation } from "./shard-map.ts";
import type { LeaseView, MapView, SetConfig, SetState } from "./types.ts";

export type SetTask =
  | { readonly name: "time-out-request" }
  | { readonly name: "list" }
  | {
      readonly name: "write";
      readonly over: MapView | undefined;
      readonly map: ShardMap;
      readonly reclaimed: readonly number[];
    }
  | { readonly name: "fence"; readonly over: LeaseView }
  | { readonly name: "remove"; readonly over: LeaseView }
  | { readonly name: "overrun"; readonly shard: number }
  /** Nothing but to look again. */
  | { readonly name: "wake" };

interface Entry {
  readonly atMs: number;
  readonly task: SetTask;
}

/** Members take turns in what any of them can do, so that they do not all write at once. */
const turnMs = 100;
/** More turns than this would make a crash of many members slow. */
const mostTurns = 10;
/** A watch may be broken if it is silent for this part of a lease: every member renews several times in it. */
const maxSilence = 1 / 3;
/** A lease that nobody needs is removed when it has not changed for this many leases. */
const leasesBeforeRemoval = 2;

export function setAgenda(config: SetConfig, state: SetState, nowMs: number): Entry[] {
  if (!state.isStarted) return [];
  const entries: Entry[] = [];
  const add = (task: SetTask, atMs: number) => entries.push({ atMs, task });
  for (const [shard, term] of state.terms) {
    const isStopping = term.phase === "draining" || term.phase === "lost";
    if (isStopping && term.untilMs !== undefined && Number.isFinite(term.untilMs)) {
      add({ name: "overrun", shard }, term.untilMs);
    }
  }
  if (state.inFlight) {
    add({ name: "time-out-request" }, state.inFlight.timeoutAtMs);
    return entries;
  }
  if (state.mustList) {
    add({ name: "list" }, state.retryAtMs);
    return entries;
  }
  const silenceMs = state.watchUp
    ? Math.max(config.leaseDurationMs * maxSilence, config.retryPeriodMs)
    : config.retryPeriodMs;
  add({ name: "list" }, Math.max(state.lastContactMs + silenceMs, state.retryAtMs));
  if (nowMs < state.quarantineUntilMs) {
    add({ name: "wake" }, state.quarantineUntilMs);
    return entries;
  }
  if (state.membership.kind !== "held") return entries;
  const { me } = state.membership;
  for (const entry of mapEntries(config, state, me, nowMs))
    add(entry.task, Math.max(entry.atMs, state.retryAtMs));
  for (const entry of leaseEntries(config, state, me)) add(entry.task, Math.max(entry.atMs, state.retryAtMs));
  return entries;
}

/** The monotonic time at which the caller must send a "tick" if no other event happens before. */
export function nextSetWakeMs(config: SetConfig, state: SetState, nowMs: number): number {
  return Math.min(...setAgenda(config, state, nowMs).map(({ atMs }) => atMs));
}

function mapEntries(config: SetConfig, state: SetState, me: Incarnation, nowMs: number): Entry[] {
  const { map } = state;
  const isIdle = state.terms.size === 0;
  const isLeaving = state.stopping || (state.membership.kind === "held" && state.membership.isEnding);
  if (map.kind === "unknown") return [];
  if (map.kind === "absent") {
    if (!isIdle || isLeaving) return [];
    const created = { count: config.count, forming: true, waiting: [], members: [], write: "" };
    return [{ atMs: map.sinceMs, task: { name: "write", over: undefined, map: created, reclaimed: [] } }];
  }
  const { view } = map;
  if (view.map.forming) {
    // Every lease from before the map was created must be known.
    if (!isIdle || isLeaving || !isUpToDate(state)) return [];
    const formed = formedMap(view.map, mayOwnByEarlierMap(config, state, me, nowMs));
    const waitMs = config.waitWhenAbsent ? config.leaseDurationMs : 0;
    return [{ atMs: map.sinceMs + waitMs, task: { name: "write", over: view, map: formed, reclaimed: [] } }];
  }
  return changeEntries(config, state, me, view, isLeaving, nowMs);
}

function changeEntries(
  config: SetConfig,
  state: SetState,
  me: Incarnation,
  view: MapView,
  isLeaving: boolean,
  nowMs: number,
): Entry[] {
  const entries: Entry[] = [];
  const dead = new Map<string, number>();
  for (const other of othersInMap(state)) {
    const atMs = deadAtMs(state, other);
    if (atMs !== undefined) dead.set(keyOf(other), atMs);
  }
  const waitMs = turn(view.map, me, dead);
  // Somebody else's turn comes first. If that one is dead too, this member acts a little later.
  const nowDead = [...dead].filter(([, atMs]) => atMs <= nowMs);
  for (const [, atMs] of dead) if (atMs > nowMs) entries.push({ atMs, task: { name: "wake" } });
  for (const other of othersInMap(state)) {
    const atMs = mustBeListedAtMs(state, other);
    if (atMs !== undefined) entries.push({ atMs: atMs + waitMs, task: { name: "list" } });
  }
  const stopped = [...state.terms].flatMap(([shard, term]) => {
    if (term.phase !== "stopped") return [];
    const restUntilMs = term.restUntilMs ?? 0;
    if (restUntilMs > nowMs) entries.push({ atMs: restUntilMs, task: { name: "wake" } });
    return [{ shard, isMove: term.isMove ?? false, isResting: restUntilMs > nowMs }];
  });
  const wanted = nextMap(
    view.map,
    {
      me,
      count: config.count,
      mayJoin: state.terms.size === 0,
      isLeaving,
      stopped,
      passOn: config.passOn,
      dead: new Set(nowDead.map(([key]) => key)),
    },
    config,
  );
  if (wanted && (wanted.isOwn || memberOf(view.map, me))) {
    const sinceMs = Math.max(
      state.map.kind === "present" ? state.map.sinceMs : 0,
      ...nowDead.map(([, atMs]) => atMs),
    );
    entries.push({
      atMs: wanted.isOwn ? nowMs : sinceMs + waitMs,
      task: { name: "write", over: view, map: wanted.map, reclaimed: wanted.reclaimed },
    });
  }
  return entries;
}

function leaseEntries(config: SetConfig, state: SetState, me: Incarnation): Entry[] {
  if (state.map.kind !== "present") return [];
  const { map } = state.map.view;
  const entries: Entry[] = [];
  const others = othersInMap(state);
  for (const other of others) {
    const atMs = expiresAtMs(state, other);
    const known = state.leases.get(other.lease);
    if (atMs === undefined || !known) continue;
    entries.push({
      atMs: atMs + turn(map, me, new Map([[keyOf(other), atMs]])),
      task: { name: "fence", over: known.view },
    });
  }
  const isFirst = map.members[0] !== undefined && sameIncarnation(map.members[0], me);
  if (!isFirst || !isUpToDate(state)) return entries;
  const needed = new Set([...others, me].map(({ lease }) => lease));
  for (const [name, { view, sinceMs }] of state.leases) {
    if (needed.has(name)) continue;
    const { leaseSeconds } = incarnationIn(config, view);
    const leaseMs = isRelease(view.record) ? config.leaseDurationMs : leaseSeconds * 1_000;
    entries.push({ atMs: sinceMs + leasesBeforeRemoval * leaseMs, task: { name: "remove", over: view } });
  }
  return entries;
}

/** How long this member lets the members before it in the map act first. */
function turn({ members }: ShardMap, me: Incarnation, dead: ReadonlyMap<string, number>): number {
  const alive = members.filter((member) => !dead.has(keyOf(member)));
  const rank = alive.findIndex((member) => sameIncarnation(member, me));
  return Math.min(rank < 0 ? alive.length : rank, mostTurns) * turnMs;
}

/** Everybody who holds a member lease, or held one that vanished a short time ago. */
function mayOwnByEarlierMap(
  config: SetConfig,
  state: SetState,
  me: Incarnation,
  nowMs: number,
): Incarnation[] {
  const held = [...state.leases.values()]
    .filter(({ view }) => isHeld(view))
    .map(({ view }) => incarnationIn(config, view));
  const vanished = state.vanished
    .filter(({ untilMs }) => untilMs > nowMs)
    .map(({ incarnation }) => incarnation);
  const others = new Map([...held, ...vanished].map((one) => [keyOf(one), one]));
  others.delete(keyOf(me));
  return [...others.values()];
}
