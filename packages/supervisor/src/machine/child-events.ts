/** What follows from what happens to the child, its health checks and its hooks. */
import type { ChildExit } from "../events.ts";
import type { ChildEnd } from "./child-end.ts";
import { runHook } from "./settle.ts";
import { afterEnd, endChild, noHealth, notify, type StepContext } from "./transitions.ts";

export function childReady(ctx: StepContext, id: number): void {
  const { state, at, config } = ctx;
  const { child, term } = state;
  if (child.name !== "running" || child.id !== id || child.isReady || child.stop) return;
  state.child = { ...child, isReady: true };
  if (term && !config.warm) state.term = { ...term, hasLed: true };
  if (config.health) state.health = { ...noHealth, nextMs: at.monoMs + config.health.initialDelayMs };
  if (child.pid !== undefined) {
    notify(ctx, { type: "ready", pid: child.pid, tookMs: at.monoMs - state.startedMs });
  }
}

export function childExited(ctx: StepContext, exit: ChildExit): void {
  const { state } = ctx;
  const { child } = state;
  state.lastExit = exit;
  if (child.name !== "running") return;
  state.child = { ...child, exit };
  const how = exit.signal === undefined ? `exited with code ${exit.code}` : `was killed by ${exit.signal}`;
  const when = child.isReady ? "" : " before it was ready";
  endChild(ctx, { type: "exited", why: `the child ${how}${when}`, exit, wasReady: child.isReady });
}

export function childGone(ctx: StepContext, killed: boolean): void {
  const { state, config } = ctx;
  const { child } = state;
  if (child.name !== "running") return;
  if (state.run === "terminating") state.wasKilled ||= killed;
  state.health = noHealth;
  const end = child.stop?.end ?? { type: "term-ended" };
  state.child = { name: "finishing", end };
  if (config.hookTimeoutMs.postStop === undefined) recordOrEnd(ctx, end);
  else runHook(ctx, "postStop");
}

/** Only an exit with 0 that nobody asked for completes the work: many programs exit with 0 when they are told to stop. */
function recordOrEnd(ctx: StepContext, end: ChildEnd): void {
  const { state, config } = ctx;
  const isDone = end.type === "exited" && end.exit.code === 0;
  if (config.hookTimeoutMs.recordCompletion === undefined || !isDone) afterEnd(ctx, end);
  else if (!state.term || state.term.ending?.kind === "lost") afterEnd(ctx, { type: "term-ended" });
  else runHook(ctx, "recordCompletion");
}

export function hookEnded(ctx: StepContext, id: number, failure: string | undefined): void {
  const { state } = ctx;
  const hook = [state.hook, state.roleHook].find((each) => each?.id === id);
  if (!hook) return;
  const why = hook.isStopped ? "it was killed before it ended" : failure;
  if (why !== undefined) {
    ctx.effects.push({ type: "report", problem: { kind: "hook-failed", hook: hook.name, why } });
  }
  if (hook.name === "roleChange") {
    state.roleHook = undefined;
    return;
  }
  state.hook = undefined;
  const { child } = state;
  // Work whose completion could not be recorded may be done again, by this replica or by another.
  if (hook.name === "recordCompletion")
    afterEnd(ctx, { type: why === undefined ? "completed" : "term-ended" });
  else if (child.name === "finishing") recordOrEnd(ctx, child.end);
  if (child.name !== "preparing") return;
  if (why === undefined) state.child = { ...child, isHookDone: true };
  else afterEnd(ctx, { type: "not-spawned", why: `the hook before the start failed: ${why}`, exitCode: 126 });
}

export function checkEnded(ctx: StepContext, failure: string | undefined): void {
  const { state, config, at } = ctx;
  const { health } = state;
  if (!config.health || !health.check) return;
  const nextMs = Math.max(health.check.startedMs + config.health.periodMs, at.monoMs);
  if (failure === undefined) {
    state.health = { healthy: true, failures: 0, nextMs, check: undefined };
    if (health.healthy !== true || health.failures > 0) {
      ctx.effects.push({ type: "health", event: { healthy: true, failures: 0 } });
    }
    return;
  }
  const failures = health.failures + 1;
  const isUnhealthy = failures >= config.health.threshold;
  state.health = { healthy: isUnhealthy ? false : health.healthy, failures, nextMs, check: undefined };
  ctx.effects.push({ type: "health", event: { healthy: !isUnhealthy, failures, message: failure } });
  if (isUnhealthy) endChild(ctx, { type: "unhealthy", why: `the child is unhealthy: ${failure}` });
}
