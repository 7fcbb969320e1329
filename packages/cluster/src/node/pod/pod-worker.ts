/** Runs the machine of one pod: one event after the other, a tick when something is due, and the status after every step. */
import { messageOf } from "@tenure/base";
import { objectPath } from "../../client/api.ts";
import { pods } from "../../client/resources.ts";
import { ConfigError } from "../container/environment.ts";
import { ImageError } from "../container/image.ts";
import { nextWakeMs } from "../machine/agenda.ts";
import { statusOf } from "../machine/status.ts";
import { initialState, step } from "../machine/step.ts";
import type { PodEffect, PodEvent, PodState, StartFailure } from "../machine/types.ts";
import type { NodePod } from "../pod.ts";
import type { PodContext } from "./pod-context.ts";
import { type PodAddresses, PodRuntime } from "./pod-runtime.ts";
import { StatusWriter } from "./status-writer.ts";

export class PodWorker {
  readonly runtime: PodRuntime;
  readonly #context: PodContext;
  readonly #writer: StatusWriter;
  readonly #onOver: () => void;
  readonly #events: PodEvent[] = [];
  #state: PodState;
  #isBusy = false;
  #isClosed = false;
  #hasVanished = false;
  #cancelTick = (): void => {};

  /** @param onOver called when nothing of the pod is left on this node and in the API */
  constructor(context: PodContext, pod: NodePod, place: PodAddresses, onOver: () => void) {
    const { client, platform, onError } = context;
    this.#context = context;
    this.#onOver = onOver;
    this.runtime = new PodRuntime(context, pod, place);
    this.#writer = new StatusWriter(client, platform, pod, onError);
    this.#state = initialState(pod, place, platform.clock.now());
    this.send({ type: "pod", pod });
  }

  get pod(): NodePod {
    return this.#state.pod;
  }

  /** How often each container was restarted, by its name. */
  restartCount(container: string): number {
    return this.#state.containers.find(({ name }) => name === container)?.restartCount ?? 0;
  }

  update(pod: NodePod): void {
    this.runtime.update(pod);
    this.send({ type: "pod", pod });
  }

  /** The pod is gone from the API. */
  vanish(): void {
    this.#hasVanished = true;
    this.#writer.close();
    this.send({ type: "vanished" });
    if (this.#state.cleanup === "done") this.#finish();
  }

  /** Decides nothing any more. The processes are somebody else's to stop. */
  close(): void {
    this.#isClosed = true;
    this.#cancelTick();
    this.#writer.close();
  }

  send(event: PodEvent): void {
    if (this.#isClosed) return;
    this.#events.push(event);
    if (this.#isBusy) return;
    this.#isBusy = true;
    try {
      for (let next = this.#next(); next; next = this.#next()) this.#handle(next);
    } finally {
      this.#isBusy = false;
    }
    if (!this.#hasVanished) this.#writer.write(statusOf(this.#state));
    this.#setTimer();
  }

  #next(): PodEvent | undefined {
    const isDue = nextWakeMs(this.#state) <= this.#context.platform.clock.now().monoMs;
    return this.#events.shift() ?? (isDue ? { type: "tick" } : undefined);
  }

  #handle(event: PodEvent): void {
    const { state, effects } = step(this.#state, event, this.#context.platform.clock.now());
    this.#state = state;
    for (const effect of effects) this.#perform(effect);
  }

  #setTimer(): void {
    this.#cancelTick();
    const atMs = nextWakeMs(this.#state);
    this.#cancelTick = Number.isFinite(atMs)
      ? this.#context.platform.clock.at(atMs, () => this.send({ type: "tick" }))
      : () => {};
  }

  #perform(effect: PodEffect): void {
    const { runtime } = this;
    switch (effect.type) {
      case "set-up":
        runtime.setUp().then(
          () => this.send({ type: "set-up" }),
          (error) => this.send({ type: "setup-failed", message: messageOf(error) }),
        );
        return;
      case "start":
        void this.#start(effect);
        return;
      case "stop":
        runtime.stop(effect.container, effect.attempt, effect.graceMs);
        return;
      case "probe": {
        const { container, attempt, probe, timeoutMs } = effect;
        void runtime
          .probe(container, probe, timeoutMs)
          .then((failure) => this.send({ type: "probed", container, attempt, probe, failure }));
        return;
      }
      case "hook": {
        const { container, attempt, hook, timeoutMs } = effect;
        void runtime
          .hook(container, hook, timeoutMs)
          .then((failure) => this.send({ type: "hook-ended", container, attempt, hook, failure }));
        return;
      }
      case "report": {
        const { level: type, reason, message } = effect;
        const { pod } = this.#state;
        this.#context.recorder.record({ ...pod, apiVersion: "v1", kind: "Pod" }, { type, reason, message });
        return;
      }
      case "clean-up":
        void this.#cleanUp();
        return;
      case "remove":
        void this.#remove();
        return;
    }
  }

  async #start({ container, attempt, restartCount }: PodEffect & { type: "start" }): Promise<void> {
    try {
      await this.runtime.start(container, attempt, restartCount, ({ exitCode, message }) =>
        this.send({ type: "exited", container, attempt, exitCode, message }),
      );
      this.send({ type: "started", container, attempt });
    } catch (error) {
      const message = messageOf(error);
      this.send({ type: "start-failed", container, attempt, reason: failureOf(error), message });
    }
  }

  async #cleanUp(): Promise<void> {
    try {
      await this.runtime.cleanUp();
    } catch (error) {
      // Files that stay behind must not keep the pod in the API.
      this.#context.onError(error);
    }
    this.send({ type: "cleaned-up" });
    if (this.#hasVanished) this.#finish();
  }

  /** Only after the last status is written, so that everybody can see how the containers ended. */
  async #remove(): Promise<void> {
    // The status of this very step is written after its effects.
    await Promise.resolve();
    await this.#writer.flushed();
    const { namespace, name, uid } = this.#state.pod.metadata;
    const { client, platform, onError } = this.#context;
    for (let isDone = this.#hasVanished || this.#isClosed; !isDone; ) {
      try {
        await client.request({
          method: "DELETE",
          path: objectPath(pods, { namespace, name }),
          body: { apiVersion: "v1", kind: "DeleteOptions", gracePeriodSeconds: 0, preconditions: { uid } },
        });
        isDone = true;
      } catch (error) {
        const { code } = error as { code?: unknown };
        isDone = code === "NotFound" || code === "Conflict" || this.#isClosed;
        if (isDone) return;
        onError(error);
        await new Promise<void>((resolve) => {
          platform.clock.at(platform.clock.now().monoMs + removeRetryMs, resolve);
        });
      }
    }
  }

  #finish(): void {
    if (this.#isClosed) return;
    this.close();
    void this.runtime.files.removeLogs().catch(this.#context.onError);
    this.#onOver();
  }
}

const removeRetryMs = 1_000;

function failureOf(error: unknown): StartFailure {
  if (error instanceof ImageError) return "ErrImagePull";
  if (error instanceof ConfigError) return "CreateContainerConfigError";
  const { code } = error as { code?: unknown };
  return code === "SpawnFailed" ? "StartError" : "CreateContainerConfigError";
}
