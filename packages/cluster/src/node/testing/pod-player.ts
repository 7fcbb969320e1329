/** Plays a pod's machine: sends events, advances the time, and shows effects and status as short texts. */
import { nextWakeMs } from "../machine/agenda.ts";
import { statusOf } from "../machine/status.ts";
import { initialState, step } from "../machine/step.ts";
import type { PodEffect, PodEvent, PodState } from "../machine/types.ts";
import type { ContainerStatus, NodeContainer, NodePod, NodePodSpec, NodePodStatus } from "../pod.ts";

const startMs = Date.parse("2026-01-01T00:00:00Z");

export const app = (name = "app", more: Partial<NodeContainer> = {}): NodeContainer => ({
  name,
  image: "node",
  ...more,
});

export function podWith(spec: Partial<NodePodSpec>, status?: NodePodStatus): NodePod {
  return {
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name: "web", namespace: "default", uid: "u1", resourceVersion: "1", generation: 1 },
    spec: { containers: [app()], restartPolicy: "Always", terminationGracePeriodSeconds: 30, ...spec },
    ...(status ? { status } : {}),
  };
}

export class PodPlayer {
  state: PodState;
  #ms = 0;
  #effects: PodEffect[] = [];

  constructor(pod: NodePod) {
    this.state = initialState(pod, { podIP: "10.244.1.2", hostIP: "127.0.0.1" }, this.#now());
    this.send({ type: "tick" });
  }

  /** Sends an event, and then ticks that are due. */
  send(event: PodEvent): this {
    this.#step(event);
    while (nextWakeMs(this.state) <= this.#ms) this.#step({ type: "tick" });
    return this;
  }

  /** Lets time pass, with a tick whenever something is due. */
  wait(seconds: number): this {
    const untilMs = this.#ms + seconds * 1000;
    for (let next = nextWakeMs(this.state); next <= untilMs; next = nextWakeMs(this.state)) {
      this.#ms = Math.max(next, this.#ms);
      this.#step({ type: "tick" });
    }
    this.#ms = untilMs;
    return this;
  }

  setUp(): this {
    return this.send({ type: "set-up" });
  }

  started(container = "app"): this {
    return this.send({ type: "started", container, attempt: this.#attemptOf(container) });
  }

  exited(exitCode: number, container = "app"): this {
    return this.send({ type: "exited", container, attempt: this.#attemptOf(container), exitCode });
  }

  probed(probe: "startup" | "liveness" | "readiness", failure?: string, container = "app"): this {
    return this.send({ type: "probed", container, attempt: this.#attemptOf(container), probe, failure });
  }

  hookEnded(hook: "postStart" | "preStop", failure?: string, container = "app"): this {
    return this.send({ type: "hook-ended", container, attempt: this.#attemptOf(container), hook, failure });
  }

  deleted(graceSeconds: number): this {
    const { pod } = this.state;
    const metadata = {
      ...pod.metadata,
      deletionTimestamp: "2026-01-01T00:01:00Z",
      deletionGracePeriodSeconds: graceSeconds,
    };
    return this.send({ type: "pod", pod: { ...pod, metadata } });
  }

  /** The effects since the last call, as texts. Events for people are left out. */
  effects(): string[] {
    return this.#take().flatMap((effect) => {
      if (effect.type === "report") return [];
      const { type, ...facts } = effect;
      const parts = Object.entries(facts).filter(([key]) => key !== "attempt" && key !== "restartCount");
      return [[type, ...parts.map(([, value]) => value)].join(" ")];
    });
  }

  /** The events for people since the last call, as `reason: message`. */
  reports(): string[] {
    return this.#take().flatMap((effect) =>
      effect.type === "report" ? [`${effect.reason}: ${effect.message}`] : [],
    );
  }

  get status(): NodePodStatus {
    return statusOf(this.state);
  }

  container(name = "app"): ContainerStatus {
    const { containerStatuses = [], initContainerStatuses = [] } = this.status;
    const found = [...initContainerStatuses, ...containerStatuses].find((status) => status.name === name);
    if (!found) throw new Error(`no container ${name}`);
    return found;
  }

  /** The true conditions. */
  get conditions(): string[] {
    return (this.status.conditions ?? []).flatMap(({ type, status }) => (status === "True" ? [type] : []));
  }

  #take(): PodEffect[] {
    const effects = this.#effects;
    this.#effects = [];
    return effects;
  }

  #step(event: PodEvent): void {
    const { state, effects } = step(this.state, event, this.#now());
    this.state = state;
    this.#effects.push(...effects);
  }

  #attemptOf(name: string): number {
    const run = this.state.containers.find((container) => container.name === name)?.run;
    if (run?.type !== "starting" && run?.type !== "running") throw new Error(`${name} is ${run?.type}`);
    return run.attempt;
  }

  #now() {
    return { monoMs: this.#ms, wallMs: startMs + this.#ms };
  }
}
