import type { Instant } from "@tenure/base";
import { elapsedMs } from "./instant.ts";
import type { Config, Effect, EndReason, Failure, InFlight, Phase, State } from "./types.ts";

/** One step in the making: the rules write into a copy of the state, which nobody else holds. */
export interface Draft {
  readonly config: Config;
  readonly at: Instant;
  /** One number in [0, 1) for this step. */
  readonly random: number;
  readonly effects: Effect[];
  state: { -readonly [K in keyof State]: State[K] };
}

/** So many candidates may see a release at once; spread over these few milliseconds, most find it taken already. */
const staggerRangeMs = 8;
/** The first repetition of a failed request; doubled up to retryPeriod. */
const firstRetryMs = 100;
/** No request or pause is planned shorter than this, however near a deadline is. */
export const shortestMs = 50;

export function campaign(d: Draft, cooldownMs: number): void {
  d.state.phase = { name: "campaigning", notBeforeMs: d.at.monoMs + cooldownMs, staggerMs: 0 };
  d.state.campaign += 1;
}

/** What every candidate sees at the same moment is acted on at slightly different ones. */
export function spread(d: Draft): void {
  if (d.state.phase.name !== "campaigning") return;
  d.state.phase = { ...d.state.phase, staggerMs: d.random * staggerRangeMs };
}

/** The term ends on purpose: the work is told to stop, and renewing goes on until it has. */
export function drain(d: Draft, reason: "step-down" | "shutdown", cooldownMs: number): void {
  const { phase } = d.state;
  if (phase.name !== "leading") return;
  d.state.phase = { name: "draining", term: phase.term, reason, cooldownMs };
  d.effects.push({ type: "term-ending", reason });
}

/** The work must stop now. `valid`: whether it may use the time until the hard deadline for that. */
export function lose(d: Draft, reason: EndReason, valid: boolean): void {
  const { phase } = d.state;
  if (phase.name !== "leading" && phase.name !== "draining") return;
  cancelRequest(d);
  const cooldownMs = phase.name === "draining" ? phase.cooldownMs : 0;
  d.state.phase = { name: "lost", term: phase.term, reason, cooldownMs, valid, overrun: false };
  d.effects.push({ type: "term-lost", reason });
  if (!valid) d.effects.push({ type: "term-expired" });
}

/** Somebody else may be working: the time that a lost term had left to stop in is gone. */
export function invalidate(d: Draft): void {
  const { phase } = d.state;
  if (phase.name !== "lost" || !phase.valid) return;
  d.state.phase = { ...phase, valid: false };
  // At the hard deadline it was said already.
  if (!phase.overrun) d.effects.push({ type: "term-expired" });
}

/** The term is over and its work has stopped. */
export function endTerm(d: Draft, reason: EndReason, released: boolean, cooldownMs: number): void {
  const { phase } = d.state;
  cancelRequest(d);
  const wasStarted = phase.name !== "releasing" || phase.wasStarted;
  if (wasStarted) d.effects.push({ type: "term-ended", reason, released });
  campaign(d, cooldownMs);
}

export function refuse(d: Draft, reason: "duplicate-identity" | "denied", message: string): void {
  // Who is leaving anyway is not refused, for "stopped" is waited for.
  if (d.state.stopping) return;
  cancelRequest(d);
  d.state.phase = { name: "idle" };
  d.effects.push({ type: "refused", reason, message });
}

export function cancelRequest(d: Draft): void {
  if (!d.state.inFlight) return;
  d.effects.push({ type: "cancel", id: d.state.inFlight.id });
  d.state.inFlight = undefined;
}

export function requestFailed(d: Draft, during: InFlight["kind"], failure: Failure): void {
  d.effects.push({ type: "failed", during, failure });
  d.state.failures += 1;
  d.state.retryAtMs = d.at.monoMs + retryDelayMs(d, failure);
  if (failure.kind === "denied" && d.config.failWhenDenied && d.state.phase.name === "campaigning") {
    refuse(d, "denied", failure.message);
  }
}

/** Somebody else wrote first: look, and think again. At once the first time, more slowly when looking does not help. */
export function conflicted(d: Draft): void {
  d.state.mustRead = true;
  d.state.failures += 1;
  d.state.retryAtMs = d.at.monoMs + (d.state.failures === 1 ? 0 : retryDelayMs(d));
}

export function backToNormal(d: Draft): void {
  d.state.failures = 0;
  d.state.retryAtMs = d.at.monoMs;
}

function retryDelayMs(d: Draft, failure?: Failure): number {
  const longestMs = d.config.timings.retryPeriodMs;
  const doubledMs =
    failure?.kind === "denied" ? longestMs : firstRetryMs * 2 ** Math.min(d.state.failures - 1, 16);
  const jitteredMs = Math.min(doubledMs, longestMs) * (0.5 + d.random / 2);
  const askedMs = Math.min(failure?.retryAfterMs ?? 0, longestMs);
  return Math.min(Math.max(jitteredMs, askedMs), halfOfWhatIsLeftMs(d.state.phase, d));
}

/**
 * Half of the time to the soft end. Requests and pauses of a leader are never longer, so that the nearer the end is the
 * denser the attempts are, and an API server that comes back just in time is found.
 */
export function halfOfWhatIsLeftMs(phase: Phase, d: Pick<Draft, "at" | "config">): number {
  if (phase.name !== "leading" && phase.name !== "draining") return Number.POSITIVE_INFINITY;
  const leftMs = d.config.timings.renewDeadlineMs - elapsedMs(phase.term.sent, d.at);
  return Math.max(leftMs / 2, shortestMs);
}
