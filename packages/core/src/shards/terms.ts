/**
 * What follows from the map for the shards of this member: which work starts, which should stop, which must stop.
 * Upholds G1: work runs only on shards that the map gives to this very incarnation, and work that has stopped starts again only
 * after a map that no earlier write of this member can follow. Upholds G2: the token of a term is greater than all before.
 */
import type { EndReason } from "../types.ts";
import type { StepSet } from "./context.ts";
import { isChangingCount, memberOf } from "./next-map.ts";
import { nextToMove } from "./plan.ts";
import type { MapMember } from "./shard-map.ts";
import type { MapView, ShardTerm } from "./types.ts";

/** Brings the terms into line with the known map. */
export function followMap(ctx: StepSet): void {
  const { membership, map } = ctx.state;
  if (membership.kind !== "held") return;
  const view = map.kind === "present" ? map.view : undefined;
  const member = view && memberOf(view.map, membership.me);
  loseOthers(ctx, view, member);
  if (!view || !member || ctx.at.monoMs < ctx.state.quarantineUntilMs) return;
  startOwn(ctx, view, member);
  drainSome(ctx, view, member);
}

/** All shards are lost together with the member lease. */
export function loseAll(ctx: StepSet, reason: EndReason): void {
  for (const [shard, term] of ctx.state.terms) lose(ctx, shard, term, reason, false);
}

export function isLeaving({ state }: StepSet): boolean {
  return state.stopping || (state.membership.kind === "held" && state.membership.isEnding);
}

/** Ends the term of a shard as if its work had ended by itself, but lets the work take its time. */
export function stepDown(ctx: StepSet, shard: number): void {
  const term = ctx.state.terms.get(shard);
  if (term?.phase === "working") drain(ctx, shard, term, "step-down", false);
}

export function workStopped(ctx: StepSet, shard: number, token: bigint): void {
  const term = ctx.state.terms.get(shard);
  if (!term || term.token !== token || term.phase === "stopped") return;
  const reason = term.phase === "working" ? "work-ended" : (term.reason ?? "step-down");
  ctx.effects.push({ type: "shard-ended", shard, token, reason });
  if (term.phase === "lost") {
    ctx.terms().delete(shard);
    return;
  }
  const isMove = term.isMove ?? false;
  ctx.terms().set(shard, {
    token,
    count: term.count,
    phase: "stopped",
    isMove,
    restUntilMs: ctx.at.monoMs + (isMove ? 0 : ctx.config.cooldownMs),
  });
}

function loseOthers(ctx: StepSet, view: MapView | undefined, member: MapMember | undefined): void {
  const own = new Set(member?.shards);
  for (const [shard, term] of ctx.state.terms) {
    if (own.has(shard) && term.count === view?.map.count) continue;
    lose(ctx, shard, term, view ? "taken-over" : "lock-deleted", true);
  }
}

function lose(ctx: StepSet, shard: number, term: ShardTerm, reason: EndReason, expired: boolean): void {
  if (term.phase === "lost") return;
  if (term.phase === "stopped") {
    ctx.terms().delete(shard);
    return;
  }
  // The member lease has a hard deadline of its own, but it may go on. Nothing may work for longer on what another may own.
  const untilMs = expired ? ctx.at.monoMs + ctx.config.leaseDurationMs : Number.POSITIVE_INFINITY;
  ctx.terms().set(shard, { token: term.token, count: term.count, phase: "lost", reason, untilMs });
  ctx.effects.push({ type: "shard-lost", shard, reason, expired });
}

function startOwn(ctx: StepSet, { revision, map }: MapView, member: MapMember): void {
  for (const shard of member.shards) {
    const term = ctx.state.terms.get(shard);
    const isReclaimed = term?.reclaimedOver !== undefined && revision > term.reclaimedOver;
    if (term && !isReclaimed) continue;
    const lastToken = ctx.state.lastTokens.get(shard);
    const mayStart = !isLeaving(ctx) && (lastToken === undefined || revision > lastToken);
    if (!mayStart) {
      // It is given away, or kept with a new write that gives a greater token.
      if (!term)
        ctx
          .terms()
          .set(shard, { token: revision, count: map.count, phase: "stopped", isMove: true, restUntilMs: 0 });
      continue;
    }
    ctx.terms().set(shard, { token: revision, count: map.count, phase: "working" });
    ctx.lastTokens().set(shard, revision);
    ctx.effects.push({ type: "shard-started", shard, count: map.count, token: revision });
  }
}

/** Tells work to stop: all of it if this member leaves or the count changes, otherwise a shard at a time. */
function drainSome(ctx: StepSet, { map }: MapView, member: MapMember): void {
  if (isLeaving(ctx) || isChangingCount(map)) {
    for (const [shard, term] of ctx.state.terms) {
      if (term.phase === "working") drain(ctx, shard, term, ctx.state.stopping ? "shutdown" : "step-down");
    }
    return;
  }
  const { config } = ctx;
  for (;;) {
    const moving = new Set<number>();
    for (const [shard, term] of ctx.state.terms) {
      if (term.isMove && term.phase !== "lost") moving.add(shard);
    }
    if (moving.size >= config.maxMoving) return;
    const resting = [...ctx.state.terms]
      .filter(([, term]) => term.phase !== "working")
      .map(([shard]) => shard);
    const shard = nextToMove(map, config, member, moving, new Set(resting));
    const term = shard === undefined ? undefined : ctx.state.terms.get(shard);
    if (shard === undefined || !term) return;
    drain(ctx, shard, term, "step-down");
  }
}

function drain(ctx: StepSet, shard: number, term: ShardTerm, reason: EndReason, isMove = true): void {
  const untilMs = ctx.at.monoMs + ctx.config.drainTimeoutMs;
  ctx.terms().set(shard, { ...term, phase: "draining", reason, untilMs, isMove });
  ctx.effects.push({ type: "shard-ending", shard, reason });
}
