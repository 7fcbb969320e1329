/**
 * Starts and stops one process with all its descendants, for programs that need no election. Every method may be called in every
 * state, and repeatedly. There is no watchdog: if this process is killed, the processes that it started live on.
 */
import type { Writable } from "node:stream";
import { type Clock, systemClock, warn } from "@tenure/base";
import type { ChildExit, ChildProcessState } from "./events.ts";
import { supervisorDefaults } from "./options.ts";
import { inheritedEnvironment, ownPid, randomId } from "./platform.ts";
import { DescriptorOutput } from "./process/descriptor-output.ts";
import { ProcessManager as ChildManager, type ManagerEvent } from "./process/manager.ts";
import { procTable } from "./process/process-table.ts";
import { markerVariable, ProcessTree } from "./process/process-tree.ts";
import type { KillMode } from "./process/stop-signal.ts";

export interface ProcessManagerOptions {
  /** Called with what happens to the process, in order. @default none */
  readonly onEvent?: (event: ManagerEvent) => void;
  /** Called with processes that do not die, and with output that cannot be passed on. @default emits a process warning */
  readonly onError?: (error: Error) => void;
  /** Where the output goes. @default the process writes directly to our stdout */
  readonly stdout?: Writable;
  /** @default the process writes directly to our stderr */
  readonly stderr?: Writable;
  /** The signal that asks the process to stop. @default "SIGTERM" */
  readonly stopSignal?: NodeJS.Signals;
  /** Which processes get that signal first. SIGKILL always goes to all descendants too. @default "process" */
  readonly killMode?: KillMode;
  /** @default the machine's clock */
  readonly clock?: Clock;
}

export interface ManagedProgram {
  /** Looked up in PATH. */
  readonly command: string;
  /** @default none */
  readonly args?: readonly string[];
  /** Added to the environment that the process inherits. @default none */
  readonly env?: Readonly<Record<string, string>>;
  /** @default the working directory of this process */
  readonly cwd?: string;
}

export class ProcessManager {
  readonly #manager: ChildManager;
  readonly #marker = randomId();

  constructor({
    onEvent = () => {},
    onError = warn,
    stdout,
    stderr,
    clock = systemClock,
    stopSignal = supervisorDefaults.stopSignal,
    killMode = supervisorDefaults.killMode,
  }: ProcessManagerOptions = {}) {
    this.#manager = new ChildManager({
      tree: new ProcessTree({
        marker: this.#marker,
        table: procTable(),
        clock,
        supervisor: ownPid,
        excluded: () => [],
      }),
      clock,
      channels: { lines: false, ipc: false, fd: undefined },
      logPrefix: undefined,
      stdout,
      stderr,
      ownStdout: new DescriptorOutput(1, clock),
      ownStderr: new DescriptorOutput(2, clock),
      stopSignal,
      killMode,
      onEvent,
      onError,
    });
  }

  get state(): ChildProcessState {
    return this.#manager.state;
  }

  get pid(): number | undefined {
    return this.#manager.pid;
  }

  /** Whether the process itself runs. Its descendants may still run when it does not. */
  isRunning(): boolean {
    return this.#manager.isRunning();
  }

  /** Starts the program, or returns the process that already runs. Rejects while the last one is being stopped. */
  async start({ command, args = [], env = {}, cwd }: ManagedProgram): Promise<{ readonly pid: number }> {
    const inherited = inheritedEnvironment();
    // A supervisor around this process must find the new one too, so its markers are kept.
    const markers = [inherited[markerVariable], this.#marker].filter(Boolean).join(" ");
    const { pid } = await this.#manager.start({
      command,
      args,
      cwd,
      env: { ...inherited, ...env, [markerVariable]: markers },
    });
    return { pid };
  }

  /**
   * Sends the stop signal now and SIGKILL after `timeoutMs`. Resolves when the process and its descendants have exited; at once if there
   * is none. Of several timeouts the shortest applies.
   */
  async stop(timeoutMs: number): Promise<Stopped | undefined> {
    return this.#manager.stop(timeoutMs);
  }

  /** Resolves when the process and its descendants have exited; at once if there is none. */
  async wait(): Promise<Stopped | undefined> {
    return this.#manager.wait();
  }

  /** Sends a signal to the process. Does nothing if there is none. */
  signal(signal: NodeJS.Signals): void {
    this.#manager.signal(signal);
  }
}

export interface Stopped {
  readonly exit: ChildExit;
  /** Whether SIGKILL was necessary. */
  readonly killed: boolean;
}
