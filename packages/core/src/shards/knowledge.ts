/** What this member knows of the objects of its set, from lists, watch events and the answers to its own writes. */

import { sameRecord } from "../record.ts";
import type { StepSet } from "./context.ts";
import { incarnationIn, isHeld, isUpToDate, leaseOf, othersInMap } from "./members.ts";
import { keyOf, sameIncarnation } from "./shard-map.ts";
import type { LeaseView, MapView, SetState, SetView } from "./types.ts";

/** The name under which a deletion of the map is remembered. No lease has an empty name. */
const mapName = "";

/**
 * Whether a list has shown that this map was deleted since. The watch may lag behind a list, and then reports changes that the list
 * includes. Without this check, a map that no longer exists would assign shards for a moment.
 */
export function isOutdatedMap({ map, revision }: SetState, view: MapView): boolean {
  return map.kind === "absent" && view.revision <= revision;
}

export function observeMap(ctx: StepSet, view: MapView): void {
  const { map, deletions } = ctx.state;
  if (view.revision < (deletions.get(mapName) ?? -1n)) return;
  if (map.kind === "present" && view.revision <= map.view.revision) return;
  ctx.state.map = { kind: "present", view, sinceMs: ctx.at.monoMs };
  ctx.effects.push({ type: "assignment-changed" });
}

export function observeMapDeleted(ctx: StepSet, revision: bigint): void {
  const { map } = ctx.state;
  if (map.kind === "present" && revision <= map.view.revision) return;
  ctx.deletions().set(mapName, revision);
  setMapAbsent(ctx);
}

export function observeLease(ctx: StepSet, view: LeaseView): void {
  const { leases, deletions } = ctx.state;
  const before = leases.get(view.name);
  if (view.revision <= (deletions.get(view.name) ?? -1n)) return;
  if (before && view.revision <= before.view.revision) return;
  const isSameLease = before?.view.uid === view.uid;
  if (before && !isSameLease) rememberVanished(ctx, before.view);
  // A member renews by changing the record. A change of metadata alone extends nothing.
  const isRenewal = !before || !isSameLease || !sameRecord(before.view.record, view.record);
  ctx.leases().set(view.name, { view, sinceMs: isRenewal ? ctx.at.monoMs : before.sinceMs });
}

export function observeLeaseDeleted(ctx: StepSet, name: string, revision: bigint): void {
  const before = ctx.state.leases.get(name);
  if (before && revision <= before.view.revision) return;
  ctx.deletions().set(name, revision);
  forgetLease(ctx, name);
}

/** This member removed a lease that nobody needed. The watch reports the revision of the deletion later. */
export function observeRemoved(ctx: StepSet, { name, revision }: LeaseView): void {
  if (ctx.state.leases.get(name)?.view.revision === revision) ctx.leases().delete(name);
}

/**
 * A list shows all objects at one revision: what it does not show is deleted, unless it is newer than the list.
 * @param knownWhenSent the revision up to which everything was known when the list was requested
 */
export function observeList(ctx: StepSet, view: SetView, knownWhenSent: bigint): void {
  if (view.revision < knownWhenSent) handleStoreRollback(ctx, view.revision);
  const listed = new Set(view.leases.map(({ name }) => name));
  for (const [name, known] of ctx.state.leases) {
    if (!listed.has(name) && known.view.revision <= view.revision) forgetLease(ctx, name);
  }
  for (const lease of view.leases) observeLease(ctx, lease);
  if (view.map) observeMap(ctx, view.map);
  else if (ctx.state.map.kind !== "present" || ctx.state.map.view.revision <= view.revision)
    setMapAbsent(ctx);
  const deletions = ctx.deletions();
  for (const [name, revision] of deletions) if (revision <= view.revision) deletions.delete(name);
  if (view.revision > ctx.state.revision) ctx.state.revision = view.revision;
}

/** Remembers since when the lease of a member that the map names has been gone. */
export function trackGoneLeases(ctx: StepSet): void {
  if (!isUpToDate(ctx.state)) return;
  const gone = new Map<string, number>();
  for (const incarnation of othersInMap(ctx.state)) {
    if (leaseOf(ctx.state, incarnation)) continue;
    const key = keyOf(incarnation);
    gone.set(key, ctx.state.goneSinceMs.get(key) ?? ctx.at.monoMs);
  }
  ctx.state.goneSinceMs = gone;
}

function setMapAbsent(ctx: StepSet): void {
  if (ctx.state.map.kind === "absent") return;
  ctx.state.map = { kind: "absent", sinceMs: ctx.at.monoMs };
  ctx.effects.push({ type: "assignment-changed" });
}

function forgetLease(ctx: StepSet, name: string): void {
  const before = ctx.state.leases.get(name);
  if (!before) return;
  rememberVanished(ctx, before.view);
  ctx.leases().delete(name);
}

/** Its holder may not know yet that the lease is gone. Whoever creates a new map must wait for it. */
function rememberVanished(ctx: StepSet, view: LeaseView): void {
  if (!isHeld(view)) return;
  const incarnation = incarnationIn(ctx.config, view);
  const { membership } = ctx.state;
  if (membership.kind === "held" && sameIncarnation(membership.me, incarnation)) return;
  const untilMs = ctx.at.monoMs + incarnation.leaseSeconds * 1_000;
  const others = ctx.state.vanished.filter((one) => one.untilMs > ctx.at.monoMs);
  ctx.state.vanished = [...others, { incarnation, untilMs }];
}

/**
 * The store was restored from a backup or replaced. Another member may be working by a map that this store does not show any
 * more. So everything that is known is dropped, and this member does nothing for the longest lease that it has seen.
 */
function handleStoreRollback(ctx: StepSet, revision: bigint): void {
  const message =
    `the store went back from revision ${ctx.state.revision} to ${revision}: it was restored or replaced; if your storage ` +
    "checks fencing tokens, reset the highest token it has seen, because new tokens are lower";
  ctx.effects.push({ type: "failed", during: "list", failure: { kind: "server", message } });
  const leaseMs = [...ctx.state.leases.values()].map(
    ({ view }) => incarnationIn(ctx.config, view).leaseSeconds * 1_000,
  );
  ctx.state.quarantineUntilMs = ctx.at.monoMs + Math.max(ctx.config.leaseDurationMs, ...leaseMs);
  ctx.leases().clear();
  ctx.deletions().clear();
  ctx.state.map = { kind: "unknown" };
  ctx.state.goneSinceMs = new Map();
  ctx.state.lastTokens = new Map();
  ctx.state.revision = revision;
}
