/** The changes of state that several rules share. */
import { backoffMs, type Instant } from "@tenure/base";
import { elapsedMs } from "./instant.ts";
import type { Config, Effect, EndReason, Failure, RequestKind, State } from "./types.ts";

/** The inputs and results of one step. The functions change `state`, a copy that belongs to this step alone. */
export interface StepContext {
  readonly config: Config;
  readonly at: Instant;
  /** A number in [0, 1). */
  readonly random: number;
  readonly effects: Effect[];
  state: { -readonly [K in keyof State]: State[K] };
}

/**
 * All candidates see a release at the same time. Half of them react at once, the others a millisecond later, when some see that the
 * lock is taken. A whole millisecond, because timers are not finer. Not more, because with few replicas every handover would wait.
 */
const staggerSteps = 2;
/** The wait before the first retry of a failed request. It doubles up to retryPeriod. */
const firstRetryMs = 100;
/** No request times out sooner, and no retry is planned sooner, however near the renew deadline is. */
export const minRequestMs = 50;

export function startCampaign(ctx: StepContext, cooldownMs: number): void {
  ctx.state.phase = { name: "campaigning", notBeforeMs: ctx.at.monoMs + cooldownMs, staggerMs: 0 };
  ctx.state.campaign += 1;
}

/** Draws a new random wait, because every candidate receives the same watch event at the same time. */
export function stagger(ctx: StepContext): void {
  if (ctx.state.phase.name !== "campaigning") return;
  ctx.state.phase = { ...ctx.state.phase, staggerMs: Math.floor(ctx.random * staggerSteps) };
}

/** Ends the term on purpose: tells the work to stop, and keeps renewing until it has stopped or its time to stop is over. */
export function drain(
  ctx: StepContext,
  reason: "step-down" | "shutdown" | "work-ended",
  cooldownMs: number,
): void {
  const { phase } = ctx.state;
  if (phase.name !== "leading") return;
  const untilMs = ctx.at.monoMs + (ctx.config.drainTimeoutMs ?? Number.POSITIVE_INFINITY);
  ctx.state.phase = { name: "draining", term: phase.term, reason, cooldownMs, untilMs };
  ctx.effects.push({ type: "term-ending", reason });
}

/** Tells the work to stop now. @param valid whether the work may use the time until the hard deadline to stop */
export function loseTerm(ctx: StepContext, reason: EndReason, valid: boolean): void {
  const { phase } = ctx.state;
  if (phase.name !== "leading" && phase.name !== "draining") return;
  cancelRequest(ctx);
  const cooldownMs = phase.name === "draining" ? phase.cooldownMs : 0;
  ctx.state.phase = { name: "lost", term: phase.term, reason, cooldownMs, valid, overrun: false };
  ctx.effects.push({ type: "term-lost", reason });
  if (!valid) ctx.effects.push({ type: "term-expired" });
}

/** Another leader may be working: a lost term can no longer use the time until its hard deadline. */
export function invalidateLostTerm(ctx: StepContext): void {
  const { phase } = ctx.state;
  if (phase.name !== "lost" || !phase.valid) return;
  ctx.state.phase = { ...phase, valid: false };
  // After the hard deadline, "term-expired" has already been sent.
  if (!phase.overrun) ctx.effects.push({ type: "term-expired" });
}

/** Ends a term whose work has stopped. */
export function endTerm(ctx: StepContext, reason: EndReason, released: boolean, cooldownMs: number): void {
  const { phase } = ctx.state;
  cancelRequest(ctx);
  const wasStarted = phase.name !== "releasing" || phase.wasStarted;
  if (wasStarted) ctx.effects.push({ type: "term-ended", reason, released });
  startCampaign(ctx, cooldownMs);
}

export function refuse(ctx: StepContext, reason: "duplicate-identity" | "denied", message: string): void {
  // A stopping candidate is not refused: its owner awaits "stopped".
  if (ctx.state.stopping) return;
  cancelRequest(ctx);
  ctx.state.phase = { name: "idle" };
  ctx.effects.push({ type: "refused", reason, message });
}

export function cancelRequest(ctx: StepContext): void {
  if (!ctx.state.inFlight) return;
  ctx.effects.push({ type: "cancel", id: ctx.state.inFlight.id });
  ctx.state.inFlight = undefined;
}

export function handleFailure(ctx: StepContext, during: RequestKind, failure: Failure): void {
  ctx.effects.push({ type: "failed", during, failure });
  ctx.state.failures += 1;
  ctx.state.retryAtMs = ctx.at.monoMs + retryDelayMs(ctx, failure);
  if (failure.kind === "denied" && ctx.config.failWhenDenied && ctx.state.phase.name === "campaigning") {
    refuse(ctx, "denied", failure.message);
  }
}

/** Another client wrote first, so read the lock: at once the first time, with back-off if the read does not help. */
export function handleConflict(ctx: StepContext): void {
  ctx.state.mustRead = true;
  ctx.state.failures += 1;
  ctx.state.retryAtMs = ctx.at.monoMs + (ctx.state.failures === 1 ? 0 : retryDelayMs(ctx));
}

export function resetBackoff(ctx: StepContext): void {
  ctx.state.failures = 0;
  ctx.state.retryAtMs = ctx.at.monoMs;
}

function retryDelayMs(ctx: StepContext, failure?: Failure): number {
  const mostMs = ctx.config.timings.retryPeriodMs;
  // A quick retry does not help against missing permissions.
  const firstMs = failure?.kind === "denied" ? mostMs : firstRetryMs;
  const delayMs = backoffMs({ firstMs, mostMs, jitter: 0.5 }, ctx.state.failures, ctx.random);
  const requestedMs = Math.min(failure?.retryAfterMs ?? 0, mostMs);
  return Math.min(Math.max(delayMs, requestedMs), halfOfRemainingMs(ctx));
}

/**
 * Half of the time that a leader has until its renew deadline. Neither a request nor a wait takes longer. Attempts thus
 * become more frequent towards the deadline, and an API server that recovers just in time is still reached.
 */
export function halfOfRemainingMs(ctx: StepContext): number {
  const { phase } = ctx.state;
  if (phase.name !== "leading" && phase.name !== "draining") return Number.POSITIVE_INFINITY;
  const remainingMs = ctx.config.timings.renewDeadlineMs - elapsedMs(phase.term.sent, ctx.at);
  return Math.max(remainingMs / 2, minRequestMs);
}
