/**
 * Which members are dead. Upholds G1: a member counts as dead only if it can neither be working nor ever renew its lease again.
 *
 * Everything here needs a view of the leases that is at least as new as the map. A view from before a member joined does not
 * show its lease, and would make it look dead.
 */
import { isRelease } from "../record.ts";
import { type Incarnation, keyOf, sameIncarnation } from "./shard-map.ts";
import type { KnownLease, LeaseView, SetConfig, SetState } from "./types.ts";

export function incarnationIn(config: SetConfig, { name, uid, record }: LeaseView): Incarnation {
  const seconds = record.leaseDurationSeconds;
  return {
    identity: record.holderIdentity,
    lease: name,
    uid,
    acquired: record.acquireTime ?? "",
    leaseSeconds: seconds !== undefined && seconds > 0 ? seconds : config.leaseDurationMs / 1_000,
  };
}

export function isHeld({ record }: LeaseView): boolean {
  return record.holderIdentity !== "";
}

/** The incarnations that the map names, without this member. */
export function othersInMap(state: SetState): readonly Incarnation[] {
  if (state.map.kind !== "present") return [];
  const { members, waiting } = state.map.view.map;
  const me = state.membership.kind === "held" ? state.membership.me : undefined;
  return [...members, ...waiting].filter((other) => !me || !sameIncarnation(other, me));
}

/** Whether the leases are known as they were when the known map was written, or later. */
export function isUpToDate(state: SetState): boolean {
  return state.map.kind === "present" && state.revision >= state.map.view.revision;
}

/** The lease of this incarnation; undefined if the object is gone or was replaced. */
export function leaseOf(state: SetState, incarnation: Incarnation): KnownLease | undefined {
  const known = state.leases.get(incarnation.lease);
  return known?.view.uid === incarnation.uid ? known : undefined;
}

/** From when on the incarnation is certainly dead; undefined if that is not known. */
export function deadAtMs(state: SetState, incarnation: Incarnation): number | undefined {
  if (!isUpToDate(state)) return undefined;
  const leaseMs = incarnation.leaseSeconds * 1_000;
  const known = leaseOf(state, incarnation);
  if (!known) {
    // Somebody deleted the lease. It cannot be renewed any more, but the member may not know that until the lease expires.
    const atMs = goneUntilMs(state, incarnation);
    return atMs !== undefined && state.lastListMs >= atMs ? atMs : undefined;
  }
  const { record } = known.view;
  // The member released its lease itself, or another member fenced it after it had expired.
  if (isRelease(record)) return known.sinceMs;
  if (record.acquireTime === incarnation.acquired && isHeld(known.view)) return undefined;
  // A later incarnation holds the lease, and the rules of the election let it acquire the lease only after this one's end.
  if (isHeld(known.view)) return known.sinceMs;
  // Somebody removed the holder by hand.
  return known.sinceMs + leaseMs;
}

/**
 * When to look again for a lease that is gone; undefined if that has been done. It may have lost only its label, and every renewal puts
 * that back.
 */
export function mustBeListedAtMs(state: SetState, incarnation: Incarnation): number | undefined {
  const atMs = leaseOf(state, incarnation) ? undefined : goneUntilMs(state, incarnation);
  return atMs !== undefined && state.lastListMs < atMs ? atMs : undefined;
}

function goneUntilMs(state: SetState, incarnation: Incarnation): number | undefined {
  const sinceMs = state.goneSinceMs.get(keyOf(incarnation));
  return sinceMs === undefined ? undefined : sinceMs + incarnation.leaseSeconds * 1_000;
}

/** When the lease of a living incarnation will have expired, so that it can be fenced; undefined if it is not alive. */
export function expiresAtMs(state: SetState, incarnation: Incarnation): number | undefined {
  const known = leaseOf(state, incarnation);
  if (!known || !isHeld(known.view) || known.view.record.acquireTime !== incarnation.acquired)
    return undefined;
  const seconds = Math.max(known.view.record.leaseDurationSeconds ?? 0, incarnation.leaseSeconds);
  return known.sinceMs + seconds * 1_000;
}
