/** The phase of a pod, by the rules of the kubelet. */
import { isStarted } from "./probing.ts";
import type { ContainerState, PodState } from "./types.ts";
import { specIn } from "./views.ts";

export function phaseOf(state: PodState): string {
  const { pod, containers, ending, isOver } = state;
  const { restartPolicy = "Always" } = pod.spec;
  const known = pod.status?.phase;
  // A phase that is final stays.
  if (known === "Succeeded" || known === "Failed") return known;
  const init = containers.filter(({ role }) => role !== "app");
  const apps = containers.filter(({ role }) => role === "app");
  // Whoever sees a final phase may start a replacement, so it is shown only when no process is left. A pod that was deleted before
  // it ran has failed: otherwise its owner would wait for its end for ever.
  if (isOver) {
    const hasSucceeded = ending?.why !== "deadline" && apps.every((container) => lastExit(container) === 0);
    return hasSucceeded ? "Succeeded" : "Failed";
  }
  const hasFailedInit = init.some((container) => container.role === "init" && lastExit(container) > 0);
  if (hasFailedInit && restartPolicy === "Never") return "Pending";
  const isInitializing = init.some((container) => !isInitialized(state, container));
  if (isInitializing && apps.every(({ run }) => run.type !== "running" && run.type !== "ended"))
    return "Pending";
  const shown = apps.map(shownAs);
  if (shown.includes("waiting")) return "Pending";
  return "Running";
}

function isInitialized(state: PodState, container: ContainerState): boolean {
  if (container.role === "init") return container.run.type === "ended" && lastExit(container) === 0;
  return isStarted(container, specIn(state, container.name));
}

function shownAs({ run, last }: ContainerState): "waiting" | "running" | "stopped" {
  switch (run.type) {
    case "running":
      return run.isHookRunning && !run.previous ? "waiting" : run.isHookRunning ? "stopped" : "running";
    case "ended":
      return "stopped";
    case "starting":
      return run.previous ? "stopped" : "waiting";
    case "waiting":
      return last ? "stopped" : "waiting";
  }
}

/** The exit code of the present or the last run; -1 if there is none. */
function lastExit({ run, last }: ContainerState): number {
  if (run.type === "ended") return run.ended.exitCode;
  if (run.type === "running") return -1;
  return last?.exitCode ?? -1;
}
