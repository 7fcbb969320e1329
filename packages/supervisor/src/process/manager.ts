/**
 * The process manager (B3): start, stop, wait, isRunning, each safe in every state and as often as one likes.
 *
 * There is at most one child. A stop is over when nothing is left of it, whoever asked for it, and a new one is not started
 * before. Knows nothing of terms: how long a child may take to stop is told by who stops it.
 */
import type { ChildProcess, StdioOptions } from "node:child_process";
import type { Writable } from "node:stream";
import type { Clock } from "@tenure/base";
import { SupervisorError } from "../errors.ts";
import type { ChildEvent, ChildExit, ChildState } from "../events.ts";
import type { Family } from "./family.ts";
import { type Gone, Life } from "./life.ts";
import { passOn } from "./output.ts";
import { type Program, startProgram } from "./spawn.ts";

/** What is opened for a child besides its output. */
export interface Channels {
  /** Its output is looked at by us, so it goes through us. */
  readonly lines: boolean;
  readonly ipc: boolean;
  readonly fd: number | undefined;
}

export interface ManagerParts {
  readonly family: Family;
  readonly clock: Clock;
  readonly channels: Channels;
  readonly logPrefix: string | undefined;
  /** undefined: the child has ours. */
  readonly stdout: Writable | undefined;
  readonly stderr: Writable | undefined;
  /** Where output goes that has to go through us. */
  readonly ownStdout: Writable;
  readonly ownStderr: Writable;
  readonly onEvent: (event: ManagerEvent) => void;
  readonly onError: (error: Error) => void;
}

export interface StartedChild {
  readonly process: ChildProcess;
  readonly pid: number;
  /** The child itself has ended; what it started may still be there. */
  readonly exited: Promise<ChildExit>;
}

export type ManagerEvent = Extract<ChildEvent, { type: "stopping" | "killing" | "exited" | "stopped" }>;

export class ProcessManager {
  readonly #parts: ManagerParts;
  #state: ChildState = "stopped";
  #life: Life | undefined;
  #starting: Promise<StartedChild> | undefined;
  #flushed: Promise<unknown> = Promise.resolve();

  constructor(parts: ManagerParts) {
    this.#parts = parts;
  }

  get state(): ChildState {
    return this.#state;
  }

  get pid(): number | undefined {
    return this.#life?.pid;
  }

  isRunning(): boolean {
    return this.#life !== undefined && !this.#life.hasExited;
  }

  /** Starts the child; one that is there already is left alone. Rejects while the last one is being stopped. */
  async start(program: Program): Promise<StartedChild> {
    if (this.#state === "stopping") {
      throw new SupervisorError(
        "SpawnFailed",
        `Cannot start ${JSON.stringify(program.command)}: the one before is still being stopped; wait for it.`,
      );
    }
    this.#starting ??= this.#start(program);
    return this.#starting;
  }

  /** Resolves when nothing is left. Without a child: at once. The shortest of several timeouts holds. */
  async stop(timeoutMs: number): Promise<Gone | undefined> {
    const life = this.#life;
    if (!life) return undefined;
    this.#state = "stopping";
    return life.stop(timeoutMs);
  }

  /** Resolves when nothing is left of the child that is there now, with how it ended; without one at once. */
  async wait(): Promise<Gone | undefined> {
    return this.#life?.gone;
  }

  /** To the process group of the child. Does nothing without one. */
  signal(signal: NodeJS.Signals): void {
    this.#life?.signal(signal);
  }

  /** Resolves when all that was printed has been passed on. */
  async flushed(): Promise<void> {
    await this.#flushed;
  }

  async #start(program: Program): Promise<StartedChild> {
    this.#state = "starting";
    try {
      const { child, spawned } = startProgram(program, this.#stdio());
      // From here on there may be a child, and whoever stops it finds it.
      const life = child.pid === undefined ? undefined : this.#live(child, child.pid);
      await spawned;
      if (this.#state === "starting") this.#state = "running";
      if (!life) throw new SupervisorError("SpawnFailed", `Cannot start ${program.command}: it has no pid.`);
      return { process: child, pid: life.pid, exited: life.exited };
    } catch (error) {
      this.#state = "stopped";
      this.#starting = undefined;
      throw error;
    }
  }

  #live(child: ChildProcess, pid: number): Life {
    const { family, clock, onEvent, onError } = this.#parts;
    family.addGroup(pid);
    const life = new Life({
      child,
      pid,
      family,
      clock,
      onStopping: (timeoutMs) => onEvent({ type: "stopping", pid, timeoutMs }),
      onExit: (exit) => {
        this.#state = "stopping";
        onEvent({ type: "exited", pid, exit });
      },
      onKill: (pids) => onEvent({ type: "killing", pids }),
      onStuck: (pids, sinceMs) => onError(stuck(pids, sinceMs)),
    });
    this.#life = life;
    this.#flushed = this.#passOutputOn(child);
    void life.gone.then(({ exit, killed }) => {
      this.#life = undefined;
      this.#starting = undefined;
      this.#state = "stopped";
      onEvent({ type: "stopped", pid, exit, killed });
    });
    return life;
  }

  #stdio(): StdioOptions {
    const { channels, logPrefix, stdout, stderr } = this.#parts;
    const throughUs = channels.lines || logPrefix !== undefined;
    const output = (to: Writable | undefined) => (throughUs || to ? "pipe" : "inherit");
    const stdio: ("pipe" | "inherit" | "ignore" | "ipc")[] = ["inherit", output(stdout), output(stderr)];
    if (channels.fd !== undefined) {
      while (stdio.length < channels.fd) stdio.push("ignore");
      stdio.push("pipe");
    }
    if (channels.ipc) stdio.push("ipc");
    return stdio;
  }

  #passOutputOn(child: ChildProcess): Promise<unknown> {
    const { logPrefix: prefix, stdout, stderr, ownStdout, ownStderr } = this.#parts;
    const onError = (cause: Error) =>
      this.#parts.onError(
        new SupervisorError("Output", `Cannot pass on what the child prints: ${cause.message}.`, { cause }),
      );
    return Promise.all([
      child.stdout && passOn(child.stdout, stdout ?? ownStdout, { prefix, onError }),
      child.stderr && passOn(child.stderr, stderr ?? ownStderr, { prefix, onError }),
    ]);
  }
}

function stuck(pids: readonly number[], sinceMs: number): SupervisorError {
  return new SupervisorError(
    "Stuck",
    `Processes of the child are still there ${Math.round(sinceMs / 1_000)} s after SIGKILL, and no child is started before ` +
      `they are gone: ${pids.join(", ")}. They may be in uninterruptible sleep (a hung disk), or belong to another user.`,
  );
}
