/** Stops one container: its preStop hook first, then SIGTERM, and SIGKILL when its time is up. */
import type { Draft } from "./draft.ts";

/** The hook may use up the grace period. The container still gets this long between SIGTERM and SIGKILL. */
const leastGraceMs = 2_000;

/** A second call can only make the deadline earlier. Does nothing if the container does not run. */
export function stopContainer(draft: Draft, name: string, deadlineMs: number, why?: string): void {
  const run = draft.container(name)?.run;
  if (run?.type !== "running") return;
  if (run.stopping) {
    if (deadlineMs >= run.stopping.deadlineMs) return;
    draft.updateRunning(name, { stopping: { ...run.stopping, deadlineMs } });
    if (!run.stopping.isHookRunning) sendStop(draft, name, deadlineMs - draft.now.monoMs);
    return;
  }
  draft.report("Normal", "Killing", why ?? `Stopping container ${name}`, { name });
  const timeoutMs = deadlineMs - draft.now.monoMs;
  // A container whose postStart hook still runs has not become a part of the service.
  const hasHook = draft.specOf(name).lifecycle?.preStop !== undefined && timeoutMs > 0 && !run.isHookRunning;
  draft.updateRunning(name, { stopping: { isHookRunning: hasHook, deadlineMs } });
  if (hasHook)
    draft.emit({ type: "hook", container: name, attempt: run.attempt, hook: "preStop", timeoutMs });
  else sendStop(draft, name, timeoutMs);
}

/** The hook has ended, or its time is up. */
export function endPreStop(draft: Draft, name: string): void {
  const run = draft.container(name)?.run;
  if (run?.type !== "running" || !run.stopping?.isHookRunning) return;
  draft.updateRunning(name, { stopping: { ...run.stopping, isHookRunning: false } });
  sendStop(draft, name, Math.max(run.stopping.deadlineMs - draft.now.monoMs, leastGraceMs));
}

/** Ends the hooks whose time is up. */
export function settleHooks(draft: Draft): void {
  for (const { name, run } of draft.state.containers) {
    if (run.type !== "running" || !run.stopping?.isHookRunning) continue;
    if (run.stopping.deadlineMs <= draft.now.monoMs) endPreStop(draft, name);
  }
}

function sendStop(draft: Draft, name: string, graceMs: number): void {
  const run = draft.container(name)?.run;
  if (run?.type !== "running") return;
  draft.emit({ type: "stop", container: name, attempt: run.attempt, graceMs: Math.max(graceMs, 0) });
}
