/**
 * The effects that follow from the state alone. They run after every event, so no event can forget them: there is exactly one
 * place that starts the child, one that stops it, one that opens and closes the gates, and one that ends the term.
 */
import {
  hookDueMs,
  isGuarded,
  isServed,
  isWorking,
  killDueMs,
  mayBeReached,
  outOfTimeMs,
  phaseOf,
} from "./queries.ts";
import { newId, noHealth, prepareChild, reportPhase, type StepContext } from "./transitions.ts";
import type { HookName, RunningChild } from "./types.ts";

export function settle(ctx: StepContext): void {
  stopChild(ctx);
  stopHook(ctx);
  moveGates(ctx);
  finishTerm(ctx);
  startChild(ctx);
  beginDuty(ctx);
  moveGates(ctx);
  reportPhase(ctx);
  changeRole(ctx);
}

/** The only place that starts a child: for a term that is served, or at any time if it is warm; and only under a watchdog (G3). */
function startChild(ctx: StepContext): void {
  const { state, config, at } = ctx;
  // While a term ends, the watchdog still enforces its deadline, and would kill a warm child that is started.
  const isWanted = isServed(state) || (config.warm && state.run === "running" && !state.term?.ending);
  if (isWanted && state.child.name === "none" && !state.hook) prepareChild(ctx);
  const { child, term } = state;
  if (child.name !== "preparing" || !child.isPrepared || !isGuarded(state) || !isWanted) return;
  if (!child.isHookDone) {
    if (!state.hook) runHook(ctx, "preStart");
    return;
  }
  if (term && outOfTimeMs(config, term, at) <= at.monoMs) return;
  state.startedMs = at.monoMs;
  state.killedMs = Number.POSITIVE_INFINITY;
  state.health = noHealth;
  state.child = {
    name: "running",
    id: child.id,
    pid: undefined,
    isReady: false,
    missing: "",
    duty: { name: config.warm ? "waits" : "works" },
    exit: undefined,
    stop: undefined,
    killAtMs: Number.POSITIVE_INFINITY,
  };
  ctx.effects.push({ type: "start-child", id: child.id });
}

/** A warm child that is ready begins to work, under a watchdog that knows the deadline of the term. */
function beginDuty(ctx: StepContext): void {
  const { state } = ctx;
  const { child, term } = state;
  if (child.name !== "running" || child.duty.name !== "waits" || !child.isReady || child.stop) return;
  if (!term || !isServed(state) || !isGuarded(state)) return;
  state.child = { ...child, duty: { name: "works" } };
  state.term = { ...term, hasLed: true };
  ctx.effects.push({ type: "tell-child", what: "begin" });
}

/** The only place that stops the child. */
function stopChild(ctx: StepContext): void {
  const { state, config, at } = ctx;
  const { child } = state;
  if (child.name !== "running") return;
  const killAtMs = killDueMs(config, state, child, at);
  // A warm child that is told to end its work is not asked to exit before its time is over.
  if (killAtMs >= child.killAtMs || (!child.stop && killAtMs > at.monoMs)) return;
  const stop: RunningChild["stop"] = child.stop ?? { end: { type: "term-ended" }, sinceMs: at.monoMs };
  state.child = { ...child, stop, killAtMs };
  ctx.effects.push({ type: "stop-child", timeoutMs: Math.max(0, killAtMs - at.monoMs) });
}

function stopHook(ctx: StepContext): void {
  const { state, config, at } = ctx;
  const { hook } = state;
  if (!hook || hook.isStopped || hookDueMs(config, state, at) > at.monoMs) return;
  state.hook = { ...hook, isStopped: true };
  ctx.effects.push({ type: "stop-hook", id: hook.id });
}

/** The only place that opens and closes the gates. */
function moveGates(ctx: StepContext): void {
  const { state, config, at } = ctx;
  const shouldBeOpen = mayBeReached(config, state, at);
  if (shouldBeOpen === state.gates.isOpen) return;
  if (shouldBeOpen) {
    state.gates = { isOpen: true, closing: undefined };
    ctx.effects.push({ type: "open-gates" });
    return;
  }
  const id = newId(ctx);
  state.gates = { isOpen: false, closing: { id, sinceMs: at.monoMs } };
  ctx.effects.push({ type: "close-gates", id });
}

/** The only place that ends the work of the term: no process of it is left, and no traffic reaches this replica (G3). */
function finishTerm(ctx: StepContext): void {
  const { state, config } = ctx;
  const { term, child, gates, hook } = state;
  if (!term?.ending || isWorking(child) || child.name === "finishing") return;
  if (!config.warm && (child.name !== "none" || hook)) return;
  if (gates.isOpen || gates.closing) return;
  reportPhase(ctx);
  state.term = undefined;
  state.isDegraded = false;
  ctx.effects.push({ type: "no-deadline" }, { type: "finish-term" });
}

function changeRole(ctx: StepContext): void {
  const { state, config } = ctx;
  const role = phaseOf(state) === "leader" ? "leader" : "follower";
  if (role === state.role || state.roleHook) return;
  state.role = role;
  if (config.hookTimeoutMs.roleChange !== undefined) runHook(ctx, "roleChange");
}

export function runHook(ctx: StepContext, hook: HookName): void {
  const { state, config, at } = ctx;
  const id = newId(ctx);
  const endAtMs = at.monoMs + (config.hookTimeoutMs[hook] ?? 0);
  const running = { id, name: hook, endAtMs, isStopped: false };
  if (hook === "roleChange") state.roleHook = running;
  else state.hook = running;
  ctx.effects.push({ type: "run-hook", id, hook, role: state.role });
}
