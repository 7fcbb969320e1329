/**
 * What the supervisor does next, and when. This is the only place that decides by time. `step` runs the tasks that are due, and
 * the caller sets a single timer to the earliest one.
 */
import type { Instant } from "@tenure/base";
import {
  gatesDueMs,
  heartbeatMs,
  hookDueMs,
  isGuarded,
  killDueMs,
  needsGuard,
  outOfTimeMs,
  silenceMs,
} from "./queries.ts";
import type { Config, RunningChild, State } from "./types.ts";

export type Task =
  | "lose-term"
  | "kill-quiescing-child"
  | "give-up-unguarded"
  | "start-watchdog"
  | "ask-watchdog"
  | "replace-watchdog"
  | "guard-timeout"
  | "start-timeout"
  | "restart"
  | "check"
  | "check-timeout"
  | "stable"
  | "stop-hook"
  | "stop-role-hook"
  | "gates-timeout";

interface AgendaEntry {
  readonly atMs: number;
  readonly task: Task;
}

/** How long a watchdog may take to start, and how long a child waits for one. */
const watchdogStartMs = 10_000;

/** The entries, in the order in which they run if several are due. Deadlines come first. */
export function agenda(config: Config, state: State, at: Instant): AgendaEntry[] {
  const { term, child, gates, hook, roleHook } = state;
  const entries: AgendaEntry[] = [];
  const add = (task: Task, atMs: number) => entries.push({ atMs, task });

  if (term && term.ending?.kind !== "lost") add("lose-term", outOfTimeMs(config, term, at));
  addWatchdog(state, add);
  if (child.name === "preparing" && !isGuarded(state)) add("guard-timeout", child.sinceMs + watchdogStartMs);
  if (child.name === "pausing") add("restart", child.untilMs);
  if (child.name === "running" && !child.stop) addChild(config, state, child, at, add);
  if (hook && !hook.isStopped) add("stop-hook", hookDueMs(config, state, at));
  if (roleHook && !roleHook.isStopped) add("stop-role-hook", roleHook.endAtMs);
  if (gates.closing) add("gates-timeout", gatesDueMs(config, state));
  return entries;
}

function addWatchdog(state: State, add: (task: Task, atMs: number) => void): void {
  const { watchdog, child, run } = state;
  if (child.name === "running" && !child.stop) add("give-up-unguarded", watchdog.unguardedAtMs);
  switch (watchdog.name) {
    case "none":
      // A run that ends needs another watchdog only while there is something to guard.
      if (run === "running" || needsGuard(state)) add("start-watchdog", watchdog.startAtMs);
      return;
    case "starting":
      add("replace-watchdog", watchdog.startAtMs + watchdogStartMs);
      return;
    case "ready":
      if (watchdog.asked > watchdog.answered) add("replace-watchdog", watchdog.askedMs + silenceMs(state));
      else if (needsGuard(state)) add("ask-watchdog", watchdog.askedMs + heartbeatMs(state));
  }
}

function addChild(
  config: Config,
  state: State,
  child: RunningChild,
  at: Instant,
  add: (task: Task, atMs: number) => void,
): void {
  const { health, startedMs, giveUps, isDegraded } = state;
  if (child.duty.name === "quiesces") add("kill-quiescing-child", killDueMs(config, state, child, at));
  if (!child.isReady) {
    add("start-timeout", startedMs + config.startTimeoutMs);
    return;
  }
  if (giveUps > 0 || isDegraded) add("stable", startedMs + config.stableAfterMs);
  if (!config.health) return;
  if (health.check) add("check-timeout", health.check.startedMs + config.health.timeoutMs);
  else add("check", health.nextMs);
}

/** The monotonic time at which the caller must send a "tick" if no other event happens before. */
export function nextWakeMs(config: Config, state: State, at: Instant): number {
  return Math.min(Number.POSITIVE_INFINITY, ...agenda(config, state, at).map((entry) => entry.atMs));
}
