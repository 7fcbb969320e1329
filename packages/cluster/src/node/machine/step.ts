/** One step of a pod's machine: records what happened, then decides what follows. */
import type { Instant } from "@tenure/base";
import type { ContainerStatus, NodePod } from "../pod.ts";
import { formatSeconds, nextBackoff } from "./backoff.ts";
import { updateConditions } from "./conditions.ts";
import { Draft } from "./draft.ts";
import { beginEnding } from "./ending.ts";
import { newProbes, onProbed } from "./probing.ts";
import { settle } from "./settle.ts";
import { endPreStop, stopContainer } from "./stopping.ts";
import type { ContainerState, Ended, PodEvent, PodState, Role, Step } from "./types.ts";

/** A pod refers to something that may appear soon. */
const configRetryMs = 2_000;

interface Place {
  readonly podIP: string;
  readonly hostIP: string;
}

/** The state of a pod that this agent sees for the first time. An earlier agent may have run it. */
export function initialState(pod: NodePod, place: Place, now: Instant): PodState {
  const { containers, initContainers = [] } = pod.spec;
  const statuses = [...(pod.status?.initContainerStatuses ?? []), ...(pod.status?.containerStatuses ?? [])];
  const create = (name: string, role: Role): ContainerState => {
    const known = statuses.find((status) => status.name === name);
    const ended = known && endedBefore(known, now);
    const run = ended ? ({ type: "ended", ended } as const) : ({ type: "waiting" } as const);
    return { name, role, run, restartCount: known?.restartCount ?? 0 };
  };
  return {
    pod,
    since: now,
    ...place,
    setup: "none",
    containers: [
      ...initContainers.map(({ name, restartPolicy }) =>
        create(name, restartPolicy === "Always" ? "sidecar" : "init"),
      ),
      ...containers.map(({ name }) => create(name, "app")),
    ],
    attempts: 0,
    isOver: false,
    cleanup: "none",
    isRemoved: false,
    conditions: pod.status?.conditions ?? [],
  };
}

/** How the container of an earlier agent ended. What ran then is gone. */
function endedBefore({ state, lastState }: ContainerStatus, now: Instant): Ended | undefined {
  const finished = { attempt: 0, finishedWallMs: now.wallMs, finishedMonoMs: now.monoMs };
  if (state?.running) {
    const message =
      "The container could not be located when the pod was deleted.  The container used to be Running";
    return { ...finished, exitCode: 137, reason: "ContainerStatusUnknown", message };
  }
  const terminated = state?.terminated ?? lastState?.terminated;
  if (!terminated) return undefined;
  const { exitCode, reason = "Error", message, startedAt, finishedAt } = terminated;
  return {
    ...finished,
    exitCode,
    reason,
    message,
    ...(startedAt ? { startedWallMs: Date.parse(startedAt) } : {}),
    ...(finishedAt ? { finishedWallMs: Date.parse(finishedAt) } : {}),
  };
}

export function step(state: PodState, event: PodEvent, now: Instant): Step {
  const draft = new Draft(state, now);
  apply(draft, event);
  settle(draft);
  updateConditions(draft);
  return draft.result();
}

function apply(draft: Draft, event: PodEvent): void {
  switch (event.type) {
    case "pod":
      draft.set({ pod: event.pod });
      if (event.pod.metadata.deletionTimestamp !== undefined)
        beginEnding(draft, "deleted", event.pod.metadata.deletionGracePeriodSeconds ?? 0);
      return;
    case "vanished":
      // Nobody is left to remove it for.
      draft.set({ isRemoved: draft.state.cleanup === "done" });
      beginEnding(draft, "deleted", 0);
      return;
    case "set-up":
      draft.set({ setup: "done" });
      return;
    case "setup-failed":
      draft.set({ setup: "failed", setupRetryMs: draft.now.monoMs + configRetryMs });
      draft.report("Warning", "FailedMount", event.message);
      return;
    case "started":
      onStarted(draft, event);
      return;
    case "start-failed":
      onStartFailed(draft, event);
      return;
    case "exited":
      onExited(draft, event);
      return;
    case "hook-ended":
      onHookEnded(draft, event);
      return;
    case "probed":
      onProbed(draft, event);
      return;
    case "cleaned-up":
      draft.set({ cleanup: "done" });
      return;
    case "tick":
      return;
  }
}

type Of<Type extends PodEvent["type"]> = PodEvent & { type: Type };

function onStarted(draft: Draft, { container: name, attempt }: Of<"started">): void {
  const container = draft.container(name);
  if (container?.run.type !== "starting" || container.run.attempt !== attempt) return;
  const { previous } = container.run;
  const spec = draft.specOf(name);
  const hook = spec.lifecycle?.postStart !== undefined && !draft.state.ending;
  const { wallMs: startedWallMs, monoMs: startedMonoMs } = draft.now;
  draft.update(name, {
    run: {
      type: "running",
      attempt,
      startedWallMs,
      startedMonoMs,
      isHookRunning: hook,
      previous,
      probes: hook ? {} : newProbes(spec, startedMonoMs),
    },
    pulls: undefined,
    ...(previous ? { last: previous, restartCount: container.restartCount + 1 } : {}),
  });
  draft.report("Normal", "Created", `Created container: ${name}`, { name });
  draft.report("Normal", "Started", `Started container ${name}`, { name });
  const timeoutMs = Number.POSITIVE_INFINITY;
  if (hook) draft.emit({ type: "hook", container: name, attempt, hook: "postStart", timeoutMs });
}

function onStartFailed(
  draft: Draft,
  { container: name, attempt, reason, message }: Of<"start-failed">,
): void {
  const container = draft.container(name);
  if (container?.run.type !== "starting" || container.run.attempt !== attempt) return;
  const { previous } = container.run;
  const { monoMs, wallMs } = draft.now;
  draft.report("Warning", "Failed", reason === "ErrImagePull" ? message : `Error: ${message}`, { name });
  if (reason === "StartError") {
    const ended = { attempt, exitCode: 128, reason, message, finishedWallMs: wallMs, finishedMonoMs: monoMs };
    draft.update(name, {
      run: { type: "ended", ended },
      ...(previous ? { last: previous, restartCount: container.restartCount + 1 } : {}),
    });
    return;
  }
  const pulls = reason === "ErrImagePull" ? nextBackoff(container.pulls, monoMs, monoMs) : undefined;
  const retryMs = monoMs + (pulls?.delayMs ?? configRetryMs);
  const isRepeated = container.pulls !== undefined && reason === "ErrImagePull";
  const shown = isRepeated
    ? {
        reason: "ImagePullBackOff",
        message: `Back-off pulling image (${formatSeconds(pulls?.delayMs ?? 0)}): ${message}`,
      }
    : { reason, message };
  const run = previous
    ? { type: "ended" as const, ended: previous, retryMs, ...shown }
    : { type: "waiting" as const, retryMs, ...shown };
  draft.update(name, { run, pulls });
}

function onExited(draft: Draft, { container: name, attempt, exitCode, signal, message }: Of<"exited">): void {
  const run = draft.container(name)?.run;
  if (run?.type !== "running" || run.attempt !== attempt) return;
  const ended: Ended = {
    attempt,
    exitCode,
    signal,
    reason: exitCode === 0 ? "Completed" : "Error",
    message,
    startedWallMs: run.startedWallMs,
    finishedWallMs: draft.now.wallMs,
    finishedMonoMs: draft.now.monoMs,
  };
  draft.update(name, { run: { type: "ended", ended } });
}

function onHookEnded(draft: Draft, event: Of<"hook-ended">): void {
  const { container: name, attempt, hook, failure } = event;
  const run = draft.container(name)?.run;
  if (run?.type !== "running" || run.attempt !== attempt) return;
  if (hook === "preStop") {
    if (failure !== undefined)
      draft.report("Warning", "FailedPreStopHook", `PreStopHook failed: ${failure}`, { name });
    endPreStop(draft, name);
    return;
  }
  if (!run.isHookRunning) return;
  draft.updateRunning(name, {
    isHookRunning: false,
    probes: newProbes(draft.specOf(name), run.startedMonoMs),
  });
  if (failure === undefined || run.stopping) return;
  draft.report("Warning", "FailedPostStartHook", `PostStartHook failed: ${failure}`, { name });
  const graceMs = (draft.state.pod.spec.terminationGracePeriodSeconds ?? 30) * 1000;
  stopContainer(draft, name, draft.now.monoMs + graceMs, "FailedPostStartHook");
}
