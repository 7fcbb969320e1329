/** Formats effects and states for the histories in testdata. */
import { formatDuration } from "@tenure/base";
import { describeProblem } from "../errors.ts";
import type { ChildEvent } from "../events.ts";
import type { Effect } from "../machine/types.ts";
import type { World } from "../model/world.ts";

/** Undefined: the histories do not show it. */
export function describeEffect(effect: Effect, world: World): string | undefined {
  switch (effect.type) {
    case "ask-watchdog":
      // Too many to read. A question that is not answered shows in its consequences.
      return undefined;
    case "prepare":
      return "prepare the start";
    case "start-child":
      return "START the child";
    case "stop-child":
      return effect.timeoutMs === 0
        ? "KILL the child"
        : `STOP the child, kill it after ${time(effect.timeoutMs)}`;
    case "tell-child":
      return `tell the child: ${effect.what}`;
    case "publish-deadline":
      return `the deadline is ${time(effect.deadline.monoMs)}`;
    case "no-deadline":
      return "no deadline";
    case "run-check":
      return "check the health";
    case "cancel-check":
      return "cancel the check";
    case "open-gates":
      return "OPEN the gates";
    case "renew-gates":
      return "check the gates";
    case "close-gates":
      return "CLOSE the gates";
    case "run-hook":
      return `run the hook ${effect.hook}${effect.hook === "roleChange" ? ` (${effect.role})` : ""}`;
    case "stop-hook":
      return "kill the hook";
    case "start-watchdog":
      return "start a watchdog";
    case "kill-watchdog":
      return "kill the watchdog";
    case "step-down":
      return `step down for ${time(effect.cooldownMs)}`;
    case "finish-term":
      return `THE WORK HAS STOPPED${world.process?.works ? " (it has not!)" : ""}`;
    case "end-election":
      return "leave the election";
    case "phase":
      return `phase ${effect.from} → ${effect.phase}`;
    case "child":
      return describeChild(effect.event);
    case "health":
      return `health: ${effect.event.healthy ? "healthy" : "unhealthy"}, ${effect.event.failures} failures`;
    case "report":
      return `error: ${describeProblem(effect.problem).message}`;
  }
}

function describeChild(event: ChildEvent): string {
  switch (event.type) {
    case "started":
      return `child ${event.pid} started, ${event.restarts} restarts`;
    case "ready":
      return `child ${event.pid} is ready after ${time(event.tookMs)}`;
    case "restarting":
      return `restart in ${time(event.delayMs)}: ${event.why}`;
    case "gave-up":
      return `gave up for ${time(event.cooldownMs)}: ${event.why}`;
    default:
      return event.type;
  }
}

export function describeWorld(world: World): string {
  const { process, watchdog, areGatesOpen, state } = world;
  const child = process ? `process ${process.pid} ${process.works ? "works" : "waits"}` : "no process";
  return `${state.reportedPhase}; ${child}; gates ${areGatesOpen ? "open" : "closed"}; ${watchdog ? "a" : "no"} watchdog`;
}

export function time(ms: number): string {
  if (!Number.isFinite(ms)) return "never";
  const rounded = Math.round(ms);
  return rounded < 1_000 ? `${rounded}ms` : formatDuration(Math.round(rounded / 10) * 10);
}
