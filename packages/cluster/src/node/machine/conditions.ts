/** The conditions of a pod that a node agent writes. */
import type { Condition } from "../../client/objects.ts";
import { formatTime } from "../time.ts";
import type { Draft } from "./draft.ts";
import { phaseOf } from "./phase.ts";
import { isReady, isStarted } from "./probing.ts";
import type { ContainerState, PodState } from "./types.ts";
import { specIn } from "./views.ts";

type Facts = Pick<Condition, "type" | "status" | "reason" | "message">;

/** Computes the conditions again. A condition keeps its time until its status changes. */
export function updateConditions(draft: Draft): void {
  const { state, now } = draft;
  const { generation } = state.pod.metadata;
  // Those of other writers may have changed since: readiness gates, the scheduler.
  const present = [...(state.pod.status?.conditions ?? [])];
  const conditions = conditionsOf(state).map((facts): Condition => {
    const before =
      state.conditions.find(({ type }) => type === facts.type) ??
      present.find(({ type }) => type === facts.type);
    const lastTransitionTime =
      before?.status === facts.status ? before.lastTransitionTime : formatTime(now.wallMs);
    return {
      ...facts,
      lastProbeTime: null,
      ...(lastTransitionTime ? { lastTransitionTime } : {}),
      ...(generation ? { observedGeneration: generation } : {}),
    };
  });
  draft.set({ conditions });
}

function conditionsOf(state: PodState): Facts[] {
  const phase = phaseOf(state);
  const containersReady = containersReadyOf(state, phase);
  const hasSandbox = state.setup === "done" && !state.isOver;
  return [
    { type: "PodReadyToStartContainers", status: hasSandbox ? "True" : "False" },
    initializedOf(state, phase),
    { ...readyOf(state, containersReady), type: "Ready" },
    containersReady,
    { type: "PodScheduled", status: "True" },
  ];
}

function initializedOf(state: PodState, phase: string): Facts {
  const type = "Initialized";
  if (phase === "Succeeded") return { type, status: "True", reason: "PodCompleted" };
  const incomplete = state.containers.filter((container) => !isInitialized(state, container));
  const hasRun = state.containers.some(
    ({ role, run }) => role === "app" && (run.type === "running" || run.type === "ended"),
  );
  if (incomplete.length === 0 || hasRun) return { type, status: "True" };
  const message = `containers with incomplete status: [${namesOf(incomplete)}]`;
  return { type, status: "False", reason: "ContainersNotInitialized", message };
}

function isInitialized(state: PodState, container: ContainerState): boolean {
  const { role, run } = container;
  if (role === "app") return true;
  if (role === "init") return run.type === "ended" && run.ended.exitCode === 0;
  return isStarted(container, specIn(state, container.name));
}

function containersReadyOf(state: PodState, phase: string): Facts {
  const type = "ContainersReady";
  if (phase === "Succeeded") return { type, status: "False", reason: "PodCompleted" };
  if (phase === "Failed") return { type, status: "False", reason: "PodFailed" };
  const unready = state.containers.filter(
    (container) => container.role !== "init" && !isReady(container, specIn(state, container.name)),
  );
  if (unready.length === 0) return { type, status: "True" };
  const message = `containers with unready status: [${namesOf(unready)}]`;
  return { type, status: "False", reason: "ContainersNotReady", message };
}

/** A pod is ready if its containers are, and all conditions that its readiness gates name are True. */
function readyOf(state: PodState, containersReady: Facts): Facts {
  if (containersReady.status !== "True") return containersReady;
  const conditions = state.pod.status?.conditions ?? [];
  const problems = (state.pod.spec.readinessGates ?? []).flatMap(({ conditionType }) => {
    const found = conditions.find(({ type }) => type === conditionType);
    if (!found)
      return [
        `corresponding condition of pod readiness gate ${JSON.stringify(conditionType)} does not exist.`,
      ];
    if (found.status === "True") return [];
    return [
      `the status of pod readiness gate ${JSON.stringify(conditionType)} is not "True", but ${found.status}`,
    ];
  });
  if (problems.length === 0) return containersReady;
  return { type: "Ready", status: "False", reason: "ReadinessGatesNotReady", message: problems.join(", ") };
}

const namesOf = (containers: readonly ContainerState[]) => containers.map(({ name }) => name).join(" ");
