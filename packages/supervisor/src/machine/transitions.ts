/** The changes of state that several rules share. */
import { backoffMs, formatDuration, type Instant } from "@tenure/base";
import type { ChildEvent } from "../events.ts";
import { type ChildEnd, decideAfterEnd } from "./child-end.ts";
import { phaseOf } from "./queries.ts";
import { decideRestart, noRestarts, restartBackoff } from "./restarts.ts";
import type { Config, Effect, Health, State, Term } from "./types.ts";

/** The inputs and results of one step. The functions change `state`, a copy that belongs to this step alone. */
export interface StepContext {
  readonly config: Config;
  readonly at: Instant;
  readonly effects: Effect[];
  state: { -readonly [K in keyof State]: State[K] };
}

export const noHealth: Health = {
  healthy: undefined,
  failures: 0,
  nextMs: Number.POSITIVE_INFINITY,
  check: undefined,
};

/** The cool-down doubles with each time in a row that this replica gives up, up to this many times the first one. */
const mostCooldowns = 16;

export function newId(ctx: StepContext): number {
  const id = ctx.state.nextId;
  ctx.state.nextId += 1;
  return id;
}

export function notify(ctx: StepContext, event: ChildEvent): void {
  ctx.effects.push({ type: "child", event });
}

export function reportPhase(ctx: StepContext): void {
  const phase = phaseOf(ctx.state);
  const from = ctx.state.reportedPhase;
  if (phase === from) return;
  ctx.state.reportedPhase = phase;
  ctx.effects.push({ type: "phase", phase, from });
}

/** Begins to prepare the start of a child. */
export function prepareChild(ctx: StepContext): void {
  const { state, at, config } = ctx;
  const id = newId(ctx);
  const isHookDone = config.hookTimeoutMs.preStart === undefined;
  state.child = { name: "preparing", id, sinceMs: at.monoMs, isPrepared: false, isHookDone };
  // The watchdog may still be killing because of an older deadline. Its answer shows that it is not.
  state.watchdog = { ...state.watchdog, guardAsk: state.watchdog.asked + 1 };
  askWatchdog(ctx);
  ctx.effects.push({ type: "prepare", id });
}

/** The watchdog answers after it has handled all messages so far. */
export function askWatchdog(ctx: StepContext): void {
  const { watchdog } = ctx.state;
  if (watchdog.name !== "ready") return;
  const asked = watchdog.asked + 1;
  const askedMs = watchdog.answered === watchdog.asked ? ctx.at.monoMs : watchdog.askedMs;
  ctx.state.watchdog = { ...watchdog, asked, askedMs };
  ctx.effects.push({ type: "ask-watchdog", question: asked });
}

/** The term begins to end. A term that ends on purpose can still be lost, but not the reverse. */
export function endTerm(ctx: StepContext, kind: "on-purpose" | "lost", gaveUp = false): void {
  const { term } = ctx.state;
  if (!term || term.ending?.kind === "lost" || term.ending?.kind === kind) return;
  ctx.state.term = { ...term, ending: { sinceMs: ctx.at.monoMs, gaveUp, ...term.ending, kind } };
  const { child } = ctx.state;
  if (child.name === "pausing" || child.name === "preparing") {
    if (!ctx.config.warm || ctx.state.run === "terminating") ctx.state.child = { name: "none" };
    return;
  }
  if (child.name !== "running") return;
  if (!ctx.config.warm) endChild(ctx, { type: "term-ended" });
  else if (child.duty.name === "works") {
    ctx.state.child = { ...child, duty: { name: "quiesces", sinceMs: ctx.at.monoMs } };
    if (!child.exit) ctx.effects.push({ type: "tell-child", what: "end" });
  }
}

/** The child must stop, or has ended by itself. The first reason counts. */
export function endChild(ctx: StepContext, end: ChildEnd): void {
  const { child, health } = ctx.state;
  if (child.name !== "running" || child.stop) return;
  ctx.state.child = { ...child, stop: { end, sinceMs: ctx.at.monoMs } };
  if (health.check) {
    ctx.effects.push({ type: "cancel-check", id: health.check.id, why: "the child is being stopped" });
  }
  ctx.state.health = { ...health, nextMs: Number.POSITIVE_INFINITY, check: undefined };
}

/** Ends the run. */
export function terminate(ctx: StepContext): void {
  const { state } = ctx;
  if (state.run === "terminating") return;
  state.run = "terminating";
  // First, because a warm child that is told sooner stops sooner.
  endTerm(ctx, "on-purpose");
  ctx.effects.push({ type: "end-election" });
  if (state.child.name === "running") endChild(ctx, { type: "term-ended" });
  else if (state.child.name !== "finishing") state.child = { name: "none" };
}

/** Decides what follows the end of a child. No process of it is left. */
export function afterEnd(ctx: StepContext, end: ChildEnd): void {
  const { state, config, at } = ctx;
  state.child = { name: "none" };
  const ranMs = at.monoMs - state.startedMs;
  const next = decideAfterEnd(end, config.onExit, state.term?.hasLed ?? config.warm);
  if (next === "exit") {
    state.endedBy ??= end;
    terminate(ctx);
    return;
  }
  if (state.run === "terminating") return;
  const { term } = state;
  if (!term || term.ending) {
    // A warm child is started again, whatever happens to the term.
    if (config.warm) restart(ctx, end, ranMs, backoffOf(ctx, ranMs));
    return;
  }
  if (next === "return" || next === "release") {
    endTerm(ctx, "on-purpose");
    if (config.warm) restart(ctx, end, ranMs, backoffOf(ctx, ranMs));
    return;
  }
  const { maxRestarts, restartWindowMs: windowMs, stableAfterMs } = config;
  const decision =
    next === "restart" &&
    decideRestart({ maxRestarts, windowMs, stableAfterMs }, state.history, at.monoMs, ranMs);
  if (decision && decision.type === "restart") {
    state.history = decision.history;
    restart(ctx, end, ranMs, decision.delayMs);
    return;
  }
  const isChildsFault = end.type !== "unguarded" && end.type !== "unreachable";
  if (isChildsFault && config.whenUnhealthy === "lead" && state.giveUps > 0) {
    // This replica gave up before, and leads again: no other replica was healthier.
    state.isDegraded = true;
    restart(ctx, end, ranMs, backoffOf(ctx, ranMs));
    return;
  }
  const tooOften = decision
    ? `; the child was restarted ${decision.inWindow} times in ${formatDuration(windowMs)}`
    : "";
  giveUp(ctx, `${whyOf(end)}${tooOften}`, isChildsFault);
}

function giveUp(ctx: StepContext, why: string, isChildsFault: boolean): void {
  const { state, config } = ctx;
  const cooldownMs = config.cooldownMs * Math.min(2 ** state.giveUps, mostCooldowns);
  if (isChildsFault) state.giveUps += 1;
  notify(ctx, { type: "gave-up", cooldownMs, why });
  ctx.effects.push({ type: "step-down", cooldownMs });
  endTerm(ctx, "on-purpose", true);
  if (config.warm) restart(ctx, { type: "term-ended" }, 0, backoffOf(ctx, 0));
}

function restart(ctx: StepContext, end: ChildEnd, ranMs: number, delayMs: number): void {
  const { state, config, at } = ctx;
  if (ranMs >= config.stableAfterMs) state.giveUps = 0;
  state.child = { name: "pausing", untilMs: at.monoMs + delayMs };
  if (state.term?.ending) return;
  state.restarts += 1;
  notify(ctx, { type: "restarting", delayMs, restarts: state.restarts, why: whyOf(end) });
}

/** The next pause between restarts if the restarts are not limited. */
function backoffOf({ state, config }: StepContext, ranMs: number): number {
  const inARow = ranMs >= config.stableAfterMs ? 0 : state.history.inARow;
  state.history = { ...state.history, inARow: inARow + 1 };
  return backoffMs(restartBackoff, inARow, 0);
}

export function beginTerm(ctx: StepContext, term: Pick<Term, "token" | "deadline">, leftMs: number): void {
  const { state } = ctx;
  state.term = { ...term, lengthMs: leftMs, hasLed: false, ending: undefined };
  state.history = noRestarts;
  state.restarts = 0;
}

function whyOf(end: ChildEnd): string {
  return "why" in end ? end.why : "the term ended";
}
