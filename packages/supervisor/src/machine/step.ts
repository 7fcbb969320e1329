/**
 * The supervisor of one replica as a pure function: the same state, event and time give the same result.
 *
 * Upholds G1 and G3 for the processes of the child: none runs before its term, and all have exited before the term ends or its
 * deadline passes. It cannot make the caller perform an effect, nor make a process die: the watchdog acts if the caller cannot.
 */
import type { Instant } from "@tenure/base";
import { agenda, nextWakeMs, type Task } from "./agenda.ts";
import { checkEnded, childExited, childGone, childReady, hookEnded } from "./child-events.ts";
import { outOfTimeMs, silenceMs, timeLeftMs } from "./queries.ts";
import { noRestarts } from "./restarts.ts";
import { settle } from "./settle.ts";
import {
  afterEnd,
  askWatchdog,
  beginTerm,
  endChild,
  endTerm,
  newId,
  noHealth,
  notify,
  prepareChild,
  type StepContext,
  terminate,
} from "./transitions.ts";
import type { Config, Effect, Event, State } from "./types.ts";
import { forgiveSilence, replaceWatchdog, watchdogAnswered } from "./watchdog-events.ts";

/** If the watchdog and this process kill within this time of each other, neither was late. */
const sameTimeMs = 50;
/** A process that handles a tick this late was frozen or blocked. */
const oversleptMs = 250;

export const initialState: State = {
  run: "idle",
  term: undefined,
  child: { name: "none" },
  health: noHealth,
  gates: { isOpen: false, closing: undefined },
  watchdog: {
    name: "none",
    startAtMs: Number.NEGATIVE_INFINITY,
    failures: 0,
    heardMs: undefined,
    asked: 0,
    askedMs: Number.NEGATIVE_INFINITY,
    answered: 0,
    unguardedAtMs: Number.POSITIVE_INFINITY,
    guardAsk: 0,
  },
  hook: undefined,
  roleHook: undefined,
  role: "follower",
  history: noRestarts,
  restarts: 0,
  startedMs: Number.NEGATIVE_INFINITY,
  giveUps: 0,
  isDegraded: false,
  lastExit: undefined,
  killedMs: Number.POSITIVE_INFINITY,
  wasKilled: false,
  endedBy: undefined,
  reportedPhase: "follower",
  dueMs: Number.POSITIVE_INFINITY,
  nextId: 1,
};

/** Applies one event. */
export function step(
  config: Config,
  state: State,
  event: Event,
  at: Instant,
): { state: State; effects: Effect[] } {
  const ctx: StepContext = { config, at, effects: [], state: { ...state } };
  if (at.monoMs - state.dueMs >= oversleptMs) forgiveSilence(ctx);
  // A renewal that waited while the process was frozen still counts. After any other event the term is over if its time is:
  // the watchdog may have killed the child, which must not look like a crash.
  if (event.type !== "renewed") loseOverdueTerm(ctx);
  apply(ctx, event);
  runDueTasks(ctx);
  ctx.state.dueMs = nextWakeMs(config, ctx.state, at);
  return { state: ctx.state, effects: ctx.effects };
}

function loseOverdueTerm(ctx: StepContext): void {
  const { term } = ctx.state;
  if (term && outOfTimeMs(ctx.config, term, ctx.at) <= ctx.at.monoMs) endTerm(ctx, "lost");
}

function apply(ctx: StepContext, event: Event): void {
  const { state, at } = ctx;
  const { child } = state;
  switch (event.type) {
    case "start":
      if (state.run === "idle") state.run = "running";
      return;
    case "terminate":
      terminate(ctx);
      return;
    case "hurry":
      if (child.name === "running" && child.stop) {
        state.child = { ...child, stop: { ...child.stop, sinceMs: Number.NEGATIVE_INFINITY } };
      }
      if (state.hook && state.run === "terminating") state.hook = { ...state.hook, endAtMs: at.monoMs };
      return;
    case "term-began":
      termBegan(ctx, event);
      return;
    case "renewed":
      if (!state.term || state.term.ending?.kind === "lost") return;
      state.term = {
        ...state.term,
        deadline: event.deadline,
        lengthMs: Math.max(state.term.lengthMs, timeLeftMs(event.deadline, at)),
      };
      ctx.effects.push({ type: "publish-deadline", deadline: event.deadline });
      if (state.watchdog.asked === state.watchdog.answered) askWatchdog(ctx);
      if (state.gates.isOpen) ctx.effects.push({ type: "renew-gates" });
      return;
    case "term-ending":
      endTerm(ctx, "on-purpose");
      return;
    case "term-lost":
      termLost(ctx, event.deadline);
      return;
    case "prepared":
      if (child.name === "preparing" && child.id === event.id) state.child = { ...child, isPrepared: true };
      return;
    case "already-done":
      if (child.name === "preparing" && child.id === event.id) afterEnd(ctx, { type: "completed" });
      return;
    case "child-started":
      if (child.name !== "running") return;
      state.child = { ...child, pid: event.pid };
      notify(ctx, { type: "started", pid: event.pid, restarts: state.restarts });
      return;
    case "child-not-started":
      if (child.name !== "running") return;
      // There is no process to stop.
      afterEnd(ctx, child.stop?.end ?? { type: "not-spawned", why: event.why, exitCode: event.exitCode });
      return;
    case "child-ready":
      childReady(ctx, event.id);
      return;
    case "child-missing":
      if (child.name === "running" && child.id === event.id)
        state.child = { ...child, missing: event.message };
      return;
    case "child-quiet":
      if (child.name === "running" && child.duty.name === "quiesces")
        state.child = { ...child, duty: { name: "waits" } };
      return;
    case "child-killing":
      state.killedMs = at.monoMs;
      return;
    case "child-exited":
      childExited(ctx, event.exit);
      return;
    case "child-gone":
      childGone(ctx, event.killed);
      return;
    case "check-ended":
      if (state.health.check?.id === event.id) checkEnded(ctx, event.failure);
      return;
    case "gates-failed":
      if (state.gates.isOpen) endChild(ctx, { type: "unreachable", why: event.why });
      return;
    case "gates-closed":
      if (state.gates.closing?.id === event.id) state.gates = { ...state.gates, closing: undefined };
      return;
    case "hook-ended":
      hookEnded(ctx, event.id, event.failure);
      return;
    case "watchdog-answered":
      watchdogAnswered(ctx, event.question);
      return;
    case "watchdog-ended":
      replaceWatchdog(ctx, event.why);
      return;
    case "watchdog-killed":
      if (event.sinceMs < state.killedMs - sameTimeMs) {
        const problem = { kind: "killed-by-watchdog", count: event.pids.length } as const;
        ctx.effects.push({ type: "report", problem });
      }
      return;
    case "tick":
      return;
  }
}

function termBegan(ctx: StepContext, { token, deadline }: Event & { type: "term-began" }): void {
  const { state, at } = ctx;
  beginTerm(ctx, { token, deadline }, timeLeftMs(deadline, at));
  ctx.effects.push({ type: "publish-deadline", deadline });
  if (state.run === "terminating") endTerm(ctx, "on-purpose");
  loseOverdueTerm(ctx);
  // The watchdog has to know the deadline before a warm child works.
  state.watchdog = { ...state.watchdog, guardAsk: state.watchdog.asked + 1 };
  askWatchdog(ctx);
  if (state.child.name === "pausing") state.child = { name: "none" };
}

function termLost(ctx: StepContext, deadline: Instant): void {
  const { state } = ctx;
  if (!state.term) return;
  state.term = { ...state.term, deadline };
  endTerm(ctx, "lost");
  ctx.effects.push({ type: "publish-deadline", deadline });
}

/** Each task moves its own agenda entry into the future, so the loop ends. The limit only guards against a bug here. */
function runDueTasks(ctx: StepContext): void {
  settle(ctx);
  for (let turns = 0; turns < 30; turns++) {
    const due = agenda(ctx.config, ctx.state, ctx.at).find((entry) => entry.atMs <= ctx.at.monoMs);
    if (!due) return;
    runTask(ctx, due.task);
    settle(ctx);
  }
  throw new Error("bug in @tenure/supervisor: a task did not move its agenda entry into the future");
}

function runTask(ctx: StepContext, task: Task): void {
  const { state, at, config } = ctx;
  switch (task) {
    case "lose-term":
      endTerm(ctx, "lost");
      return;
    case "kill-quiescing-child":
    case "stop-hook":
      // `settle` does it.
      return;
    case "give-up-unguarded":
      endChild(ctx, { type: "unguarded", why: "the watchdog ended" });
      return;
    case "guard-timeout":
      afterEnd(ctx, {
        type: "unguarded",
        why: state.watchdog.name === "ready" ? "the watchdog does not answer" : "there is no watchdog",
      });
      return;
    case "start-watchdog":
      state.watchdog = { ...state.watchdog, name: "starting", startAtMs: at.monoMs };
      ctx.effects.push({ type: "start-watchdog" });
      return;
    case "ask-watchdog":
      askWatchdog(ctx);
      return;
    case "replace-watchdog": {
      const waitedMs =
        state.watchdog.name === "ready" ? silenceMs(state) : at.monoMs - state.watchdog.startAtMs;
      ctx.effects.push({ type: "kill-watchdog" });
      replaceWatchdog(ctx, `it did not answer for ${Math.round(waitedMs)} ms`);
      return;
    }
    case "start-timeout": {
      const missing = state.child.name === "running" ? state.child.missing : "";
      const why = `the child was not ready within ${config.startTimeoutMs} ms: ${missing}`;
      endChild(ctx, { type: "not-ready", why });
      return;
    }
    case "restart":
      prepareChild(ctx);
      return;
    case "check": {
      const id = newId(ctx);
      state.health = { ...state.health, check: { id, startedMs: at.monoMs } };
      ctx.effects.push({ type: "run-check", id });
      return;
    }
    case "check-timeout": {
      const { check = "", timeoutMs } = config.health ?? {};
      const why = `no answer within ${timeoutMs} ms`;
      ctx.effects.push({ type: "cancel-check", id: state.health.check?.id ?? 0, why });
      checkEnded(ctx, `${check}: ${why}`);
      return;
    }
    case "stable":
      state.giveUps = 0;
      state.isDegraded = false;
      return;
    case "stop-role-hook":
      if (!state.roleHook) return;
      state.roleHook = { ...state.roleHook, isStopped: true };
      ctx.effects.push({ type: "stop-hook", id: state.roleHook.id });
      return;
    case "gates-timeout": {
      const waitedMs = at.monoMs - (state.gates.closing?.sinceMs ?? at.monoMs);
      state.gates = { ...state.gates, closing: undefined };
      ctx.effects.push({ type: "report", problem: { kind: "gates-slow", waitedMs } });
      return;
    }
  }
}
