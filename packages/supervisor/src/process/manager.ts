/**
 * Starts and stops a child. Every method may be called in every state, and repeatedly.
 *
 * There is at most one child. A stop is complete when the child and its descendants have exited, and no other child starts
 * before. The manager knows nothing about terms: the caller of `stop` decides how long the child may take.
 */
import type { ChildProcess } from "node:child_process";
import type { Writable } from "node:stream";
import type { Clock } from "@tenure/base";
import { SupervisorError } from "../errors.ts";
import type { ChildEvent, ChildExit, ChildProcessState } from "../events.ts";
import { temporaryFolder } from "../platform.ts";
import { ChildLifecycle, type StopResult } from "./child-lifecycle.ts";
import { forwardOutput } from "./output.ts";
import { type ChildPipes, openPipes, type Slot } from "./pipes.ts";
import type { ProcessTree } from "./process-tree.ts";
import { type Program, startProgram } from "./spawn.ts";
import type { KillMode } from "./stop-signal.ts";

/** How the child reports that it is ready. */
interface Channels {
  /** The supervisor reads the output of the child, so the output goes through the supervisor. */
  readonly lines: boolean;
  readonly ipc: boolean;
  readonly fd: number | undefined;
}

export interface ManagerOptions {
  readonly tree: ProcessTree;
  readonly clock: Clock;
  readonly channels: Channels;
  readonly logPrefix: string | undefined;
  /** Where the child reads from: the input of the supervisor, nothing, or a pipe. @default "inherit" */
  readonly stdin?: "inherit" | "ignore" | "input";
  /** Undefined: the child inherits the stream of the supervisor. */
  readonly stdout: Writable | undefined;
  readonly stderr: Writable | undefined;
  /** The streams of the supervisor, for output that goes through it. */
  readonly ownStdout: Writable;
  readonly ownStderr: Writable;
  /** Where the pipes of a child have names for a moment. @default the system's folder for temporary files */
  readonly pipeFolder?: string | undefined;
  /** @default "SIGTERM" */
  readonly stopSignal?: NodeJS.Signals;
  /** @default "process" */
  readonly killMode?: KillMode;
  /** The process that signals go to, if it is not the child itself. @param pid the child @default the child */
  readonly signalTarget?: ((pid: number) => number | undefined) | undefined;
  readonly onEvent: (event: ManagerEvent) => void;
  readonly onError: (error: Error) => void;
}

export interface StartedChild {
  readonly process: ChildProcess;
  readonly pid: number;
  /** Resolves when the child itself has exited. Its descendants may still run. */
  readonly exited: Promise<ChildExit>;
}

export type ManagerEvent = Extract<ChildEvent, { type: "stopping" | "killing" | "exited" | "stopped" }>;

export class ProcessManager {
  readonly #options: ManagerOptions;
  #state: ChildProcessState = "stopped";
  #child: ChildLifecycle | undefined;
  #starting: Promise<StartedChild> | undefined;
  #flushed: Promise<unknown> = Promise.resolve();

  constructor(options: ManagerOptions) {
    this.#options = options;
  }

  get state(): ChildProcessState {
    return this.#state;
  }

  get pid(): number | undefined {
    return this.#child?.pid;
  }

  isRunning(): boolean {
    return this.#child !== undefined && !this.#child.hasExited;
  }

  /** Starts the child, or returns the one that already runs. Rejects while the last one is being stopped. */
  async start(program: Program): Promise<StartedChild> {
    if (this.#state === "stopping") {
      throw new SupervisorError(
        "SpawnFailed",
        `Cannot start ${JSON.stringify(program.command)}: the previous child is still being stopped; wait until it has stopped.`,
      );
    }
    this.#starting ??= this.#start(program);
    return this.#starting;
  }

  /** Resolves when the child and its descendants have exited; at once if there is no child. The shortest of several timeouts applies. */
  async stop(timeoutMs: number): Promise<StopResult | undefined> {
    const child = this.#child;
    if (!child) return undefined;
    this.#state = "stopping";
    return child.stop(timeoutMs);
  }

  /** Resolves when the present child and its descendants have exited; at once if there is no child. */
  async wait(): Promise<StopResult | undefined> {
    return this.#child?.gone;
  }

  /** Sends a signal to the child; with another kill mode than `process`, to its process group. Does nothing without a child. */
  signal(signal: NodeJS.Signals): void {
    this.#child?.signal(signal);
  }

  /** Resolves when all output of the child is forwarded. */
  async flushed(): Promise<void> {
    await this.#flushed;
  }

  async #start(program: Program): Promise<StartedChild> {
    this.#state = "starting";
    let pipes: ChildPipes | undefined;
    try {
      pipes = openPipes(this.#slots(), this.#options.pipeFolder ?? temporaryFolder());
      const { child: childProcess, spawned } = startProgram(program, pipes.stdio);
      pipes.attach(childProcess);
      pipes.closeChildEnds();
      pipes = undefined;
      // Before the first await, so that `stop` finds the child from here on.
      const child = childProcess.pid === undefined ? undefined : this.#manage(childProcess, childProcess.pid);
      await spawned;
      if (this.#state === "starting") this.#state = "running";
      if (!child) throw new SupervisorError("SpawnFailed", `Cannot start ${program.command}: it has no pid.`);
      return { process: childProcess, pid: child.pid, exited: child.exited };
    } catch (error) {
      pipes?.closeChildEnds();
      this.#state = "stopped";
      this.#starting = undefined;
      throw error;
    }
  }

  #manage(childProcess: ChildProcess, pid: number): ChildLifecycle {
    const {
      tree,
      clock,
      stopSignal = "SIGTERM",
      killMode = "process",
      signalTarget,
      onEvent,
      onError,
    } = this.#options;
    tree.addGroup(pid);
    void tree.confine(pid);
    const child = new ChildLifecycle({
      childProcess,
      pid,
      tree,
      clock,
      stopSignal,
      killMode,
      signalTarget: signalTarget && (() => signalTarget(pid)),
      onStopping: (timeoutMs) => onEvent({ type: "stopping", pid, timeoutMs }),
      onExit: (exit) => {
        this.#state = "stopping";
        onEvent({ type: "exited", pid, exit });
      },
      onKill: (pids) => onEvent({ type: "killing", pids }),
      onStuck: (pids, sinceMs) => onError(stuckError(pids, sinceMs)),
    });
    this.#child = child;
    this.#flushed = this.#forwardOutput(childProcess);
    void child.gone.then(({ exit, killed }) => {
      this.#child = undefined;
      this.#starting = undefined;
      this.#state = "stopped";
      onEvent({ type: "stopped", pid, exit, killed });
    });
    return child;
  }

  #slots(): Slot[] {
    const { channels, logPrefix, stdin = "inherit", stdout, stderr } = this.#options;
    const isPiped = channels.lines || logPrefix !== undefined;
    const output = (to: Writable | undefined) => (isPiped || to ? "pipe" : "inherit");
    const stdio: Slot[] = [stdin, output(stdout), output(stderr)];
    if (channels.fd !== undefined) {
      while (stdio.length < channels.fd) stdio.push("ignore");
      stdio.push("pipe");
    }
    if (channels.ipc) stdio.push("ipc");
    return stdio;
  }

  #forwardOutput({ stdout: from, stderr: errors }: ChildProcess): Promise<unknown> {
    const { logPrefix: prefix, stdout, stderr, ownStdout, ownStderr } = this.#options;
    const onError = (cause: Error) =>
      this.#options.onError(
        new SupervisorError("Output", `Cannot forward the output of the child: ${cause.message}.`, { cause }),
      );
    return Promise.all([
      from && forwardOutput(from, stdout ?? ownStdout, { prefix, onError }),
      errors && forwardOutput(errors, stderr ?? ownStderr, { prefix, onError }),
    ]);
  }
}

function stuckError(pids: readonly number[], sinceMs: number): SupervisorError {
  return new SupervisorError(
    "Stuck",
    `Processes of the child still run ${Math.round(sinceMs / 1_000)} s after SIGKILL: ${pids.join(", ")}. They may be in ` +
      "uninterruptible sleep (a hung disk), or belong to another user. No child is started until they have exited.",
  );
}
