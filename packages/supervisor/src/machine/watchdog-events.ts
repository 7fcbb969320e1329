/** What follows from what happens to the watchdog. */
import { backoffMs } from "@tenure/base";
import { unguardedMs } from "./queries.ts";
import { askWatchdog, type StepContext } from "./transitions.ts";

/** The pauses before a watchdog is started again that ended before it was ready. */
const watchdogBackoff = { firstMs: 250, mostMs: 30_000, jitter: 0 };

export function watchdogAnswered(ctx: StepContext, question: number): void {
  const { state, at } = ctx;
  const { watchdog } = state;
  if (watchdog.name === "none") return;
  if (watchdog.name === "ready") {
    const answered = Math.min(Math.max(watchdog.answered, question), watchdog.asked);
    state.watchdog = { ...watchdog, answered, heardMs: at.monoMs, askedMs: at.monoMs };
    return;
  }
  const { asked } = watchdog;
  state.watchdog = {
    ...watchdog,
    name: "ready",
    failures: 0,
    heardMs: at.monoMs,
    answered: asked,
    guardAsk: asked + 1,
    unguardedAtMs: Number.POSITIVE_INFINITY,
  };
  askWatchdog(ctx);
}

/** The watchdog is gone: another one starts, at once if it was ready before. */
export function replaceWatchdog(ctx: StepContext, why: string): void {
  const { state, at } = ctx;
  const { watchdog } = state;
  if (watchdog.name === "none") return;
  const failures = watchdog.name === "ready" ? 0 : watchdog.failures + 1;
  state.watchdog = {
    ...watchdog,
    name: "none",
    failures,
    startAtMs: at.monoMs + backoffMs(watchdogBackoff, failures, 0),
    unguardedAtMs: Math.min(watchdog.unguardedAtMs, at.monoMs + unguardedMs(state)),
  };
  ctx.effects.push({ type: "report", problem: { kind: "watchdog-ended", why } });
}

/** This process did not run, so an answer may be waiting to be read. The silence of the watchdog counts from now. */
export function forgiveSilence({ state, at }: StepContext): void {
  const { watchdog } = state;
  if (watchdog.name === "ready") state.watchdog = { ...watchdog, askedMs: at.monoMs };
  if (watchdog.name === "starting") state.watchdog = { ...watchdog, startAtMs: at.monoMs };
}
