/** Decides what a pod needs next: its folders, its init containers in order, its containers, restarts, and its end. */
import { formatSeconds, nextBackoff, retryTime } from "./backoff.ts";
import type { Draft } from "./draft.ts";
import { beginEnding, isLive, settleEnding } from "./ending.ts";
import { isStarted, settleProbes } from "./probing.ts";
import { settleHooks } from "./stopping.ts";
import type { ContainerState } from "./types.ts";

export function settle(draft: Draft): void {
  if (draft.state.isRemoved) return;
  settleHooks(draft);
  checkDeadline(draft);
  if (!draft.state.ending && setUp(draft)) {
    if (settleInit(draft)) settleApps(draft);
  }
  settleEnding(draft);
  settleProbes(draft);
}

function checkDeadline(draft: Draft): void {
  const { pod, since, ending } = draft.state;
  const { activeDeadlineSeconds, terminationGracePeriodSeconds = 30 } = pod.spec;
  if (ending || activeDeadlineSeconds === undefined) return;
  if (draft.now.monoMs < since.monoMs + activeDeadlineSeconds * 1000) return;
  const message = "Pod was active on the node longer than the specified deadline";
  draft.report("Normal", "DeadlineExceeded", message);
  beginEnding(draft, "deadline", terminationGracePeriodSeconds);
}

/** Whether the folders and volumes of the pod are there. */
function setUp(draft: Draft): boolean {
  const { setup, setupRetryMs = 0 } = draft.state;
  if (setup === "none" || (setup === "failed" && draft.now.monoMs >= setupRetryMs)) {
    draft.set({ setup: "running" });
    draft.emit({ type: "set-up" });
  }
  return setup === "done";
}

/** Runs the init containers, one after the other. Resolves to whether the containers may start. */
function settleInit(draft: Draft): boolean {
  const { restartPolicy = "Always" } = draft.state.pod.spec;
  for (const { name } of draft.state.containers.filter(({ role }) => role !== "app")) {
    const container = draft.container(name) as ContainerState;
    const { role, run } = container;
    if (role === "init" && run.type === "ended" && run.ended.exitCode === 0) continue;
    if (role === "init" && run.type === "ended" && restartPolicy === "Never") {
      beginEnding(draft, "completed", graceOf(draft));
      return false;
    }
    if (!isLive(run.type)) startWhenDue(draft, container);
    // A sidecar that was restarted later holds nothing back that already runs.
    if (role === "sidecar" && (isStarted(container, draft.specOf(name)) || hasApps(draft))) continue;
    return false;
  }
  return true;
}

function hasApps(draft: Draft): boolean {
  return draft.state.containers.some(({ role, run }) => role === "app" && run.type !== "waiting");
}

function settleApps(draft: Draft): void {
  const apps = draft.state.containers.filter(({ role }) => role === "app");
  for (const container of apps) {
    const { run } = container;
    if (isLive(run.type)) {
      // Containers start one after the other, and a postStart hook holds back the next.
      if (run.type === "starting" || (run.type === "running" && run.isHookRunning)) return;
      continue;
    }
    if (run.type === "ended" && !isRestarted(draft, run.ended.exitCode)) continue;
    startWhenDue(draft, container);
    if (draft.container(container.name)?.run.type === "starting") return;
  }
  const isComplete = apps.every(({ run }) => run.type === "ended" && !isRestarted(draft, run.ended.exitCode));
  if (isComplete) beginEnding(draft, "completed", graceOf(draft));
}

function isRestarted({ state }: Draft, exitCode: number): boolean {
  const { restartPolicy = "Always" } = state.pod.spec;
  return restartPolicy === "Always" || (restartPolicy === "OnFailure" && exitCode !== 0);
}

function graceOf({ state }: Draft): number {
  return state.pod.spec.terminationGracePeriodSeconds ?? 30;
}

/** Starts the container, unless it has to wait in a back-off. */
function startWhenDue(draft: Draft, container: ContainerState): void {
  const { name, run, crashes } = container;
  const { monoMs } = draft.now;
  if (run.type === "waiting") {
    if (run.retryMs === undefined || run.retryMs <= monoMs) start(draft, container);
    return;
  }
  if (run.type !== "ended") return;
  const { finishedMonoMs } = run.ended;
  const retryMs = run.reason === undefined ? retryTime(crashes, finishedMonoMs, monoMs) : run.retryMs;
  if (retryMs === undefined || retryMs <= monoMs) {
    draft.update(name, { crashes: nextBackoff(crashes, finishedMonoMs, monoMs) });
    start(draft, container);
  } else if (run.retryMs === undefined) {
    const { metadata } = draft.state.pod;
    const pod = `${metadata.name}_${metadata.namespace}(${metadata.uid})`;
    const message = `back-off ${formatSeconds(crashes?.delayMs ?? 0)} restarting failed container=${name} pod=${pod}`;
    draft.update(name, { run: { ...run, retryMs, message } });
    draft.report("Warning", "BackOff", `Back-off restarting failed container ${name} in pod ${pod}`, {
      name,
    });
  }
}

function start(draft: Draft, { name, run, restartCount }: ContainerState): void {
  const attempt = draft.state.attempts + 1;
  const previous = run.type === "ended" ? run.ended : undefined;
  draft.set({ attempts: attempt });
  draft.update(name, { run: { type: "starting", attempt, previous } });
  const count = previous ? restartCount + 1 : restartCount;
  draft.emit({ type: "start", container: name, attempt, restartCount: count });
}
