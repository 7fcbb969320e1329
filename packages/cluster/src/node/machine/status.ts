/** The status of a pod, as the kubelet writes it. */
import { createHash } from "node:crypto";
import type { ContainerStateStatus, ContainerStatus, NodePodStatus, TerminatedState } from "../pod.ts";
import { formatTime } from "../time.ts";
import { phaseOf } from "./phase.ts";
import { isReady, isStarted } from "./probing.ts";
import type { ContainerState, Ended, PodState } from "./types.ts";
import { specIn } from "./views.ts";

export function statusOf(state: PodState): NodePodStatus {
  const { pod, since, podIP, hostIP, conditions, containers, ending, setup } = state;
  const { generation } = pod.metadata;
  const statuses = (isInit: boolean) =>
    containers
      .filter(({ role }) => (role !== "app") === isInit)
      .map((container) => containerStatus(state, container));
  const init = statuses(true);
  return {
    ...(generation ? { observedGeneration: generation } : {}),
    phase: phaseOf(state),
    ...(ending?.why === "deadline"
      ? {
          reason: "DeadlineExceeded",
          message: "Pod was active on the node longer than the specified deadline",
        }
      : {}),
    hostIP,
    hostIPs: [{ ip: hostIP }],
    ...(setup === "done" ? { podIP, podIPs: [{ ip: podIP }] } : {}),
    startTime: pod.status?.startTime ?? formatTime(since.wallMs),
    conditions,
    ...(init.length > 0 ? { initContainerStatuses: init } : {}),
    containerStatuses: statuses(false).sort((a, b) => (a.name < b.name ? -1 : 1)),
  };
}

function containerStatus(state: PodState, container: ContainerState): ContainerStatus {
  const { name, role, run, restartCount, last } = container;
  const spec = specIn(state, name);
  const shown = stateOf(state, container);
  const isInit = role === "init";
  const before = lastStateOf(container);
  const attempt = attemptOf(container);
  return {
    name,
    state: shown,
    lastState: before ? { terminated: terminated(state, name, before) } : {},
    ready: isInit ? run.type === "ended" && run.ended.exitCode === 0 : isReady(container, spec),
    restartCount,
    image: spec.image ?? "",
    imageID: attempt === undefined && !last ? "" : `tenure://${spec.image ?? ""}`,
    ...(attempt === undefined ? {} : { containerID: containerId(state, name, attempt) }),
    started: !isInit && isStarted(container, spec),
  };
}

function attemptOf({ run, last }: ContainerState): number | undefined {
  switch (run.type) {
    case "running":
      return run.isHookRunning ? run.previous?.attempt : run.attempt;
    case "ended":
      return run.ended.attempt;
    case "starting":
      return run.previous?.attempt;
    case "waiting":
      return last && last.attempt > 0 ? last.attempt : undefined;
  }
}

function stateOf(state: PodState, { name, run }: ContainerState): ContainerStateStatus {
  switch (run.type) {
    case "waiting":
      return { waiting: { reason: run.reason ?? defaultReason(state), ...messageIn(run) } };
    case "starting":
      return run.previous
        ? { terminated: terminated(state, name, run.previous) }
        : { waiting: { reason: defaultReason(state) } };
    case "running":
      if (!run.isHookRunning) return { running: { startedAt: formatTime(run.startedWallMs) } };
      return run.previous
        ? { terminated: terminated(state, name, run.previous) }
        : { waiting: { reason: defaultReason(state) } };
    case "ended":
      if (run.retryMs !== undefined && !state.ending)
        return { waiting: { reason: run.reason ?? "CrashLoopBackOff", ...messageIn(run) } };
      return { terminated: terminated(state, name, run.ended) };
  }
}

function lastStateOf({ run, last }: ContainerState): Ended | undefined {
  // While a container waits for its restart, its end is the last state.
  return run.type === "ended" && run.retryMs !== undefined ? run.ended : last;
}

/** As the kubelet says it: a pod with init containers is being initialized until its containers have run. */
function defaultReason({ containers }: PodState): string {
  return containers.some(({ role }) => role !== "app") ? "PodInitializing" : "ContainerCreating";
}

const messageIn = ({ message }: { message?: string }) => (message === undefined ? {} : { message });

function terminated(state: PodState, name: string, ended: Ended): TerminatedState {
  const { exitCode, signal, reason, message, startedWallMs, finishedWallMs, attempt } = ended;
  return {
    exitCode,
    ...(signal ? { signal } : {}),
    reason,
    ...(message ? { message } : {}),
    startedAt: startedWallMs === undefined ? null : formatTime(startedWallMs),
    finishedAt: formatTime(finishedWallMs),
    ...(attempt > 0 ? { containerID: containerId(state, name, attempt) } : {}),
  };
}

/** Unique for each start of a container. */
function containerId({ pod, since }: PodState, name: string, attempt: number): string {
  const text = `${pod.metadata.uid}/${name}/${attempt}/${since.wallMs}`;
  return `tenure://${createHash("sha256").update(text).digest("hex")}`;
}
