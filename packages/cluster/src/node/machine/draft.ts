/** A pod's state while one event is handled: reads and replaces its parts, and collects the effects. */
import type { Instant } from "@tenure/base";
import type { NodeContainer } from "../pod.ts";
import type { ContainerState, PodEffect, PodState, Running, Step } from "./types.ts";

export class Draft {
  readonly now: Instant;
  state: PodState;
  readonly effects: PodEffect[] = [];

  constructor(state: PodState, now: Instant) {
    this.state = state;
    this.now = now;
  }

  set(change: Partial<PodState>): void {
    this.state = { ...this.state, ...change };
  }

  emit(effect: PodEffect): void {
    this.effects.push(effect);
  }

  report(
    level: "Normal" | "Warning",
    reason: string,
    message: string,
    container?: { readonly name: string },
  ): void {
    this.emit({ type: "report", level, reason, message, container: container?.name });
  }

  container(name: string): ContainerState | undefined {
    return this.state.containers.find((container) => container.name === name);
  }

  /** Replaces parts of a container, and returns the result. */
  update(name: string, change: Partial<ContainerState>): void {
    this.set({
      containers: this.state.containers.map((container) =>
        container.name === name ? { ...container, ...change } : container,
      ),
    });
  }

  updateRunning(name: string, change: Partial<Running>): void {
    const run = this.container(name)?.run;
    if (run?.type === "running") this.update(name, { run: { ...run, ...change } });
  }

  /** The container as the pod's spec has it. */
  specOf(name: string): NodeContainer {
    const { containers, initContainers = [] } = this.state.pod.spec;
    return [...initContainers, ...containers].find((container) => container.name === name) as NodeContainer;
  }

  result(): Step {
    return { state: this.state, effects: this.effects };
  }
}
