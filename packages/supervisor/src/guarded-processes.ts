/**
 * Runs several programs at once, each with all its descendants, under one watchdog: if this process dies, however it dies, all
 * of them are killed. The containers of a node agent run this way.
 */
import type { Writable } from "node:stream";
import { after, Backoff, type Clock } from "@tenure/base";
import type { ChildExit } from "./events.ts";
import { ownPid, randomId, signalNumber } from "./platform.ts";
import type { StopResult } from "./process/child-lifecycle.ts";
import { killUntilGone } from "./process/kill.ts";
import { ProcessManager } from "./process/manager.ts";
import { procTable } from "./process/process-table.ts";
import { markerVariable, ProcessTree } from "./process/process-tree.ts";
import { Watchdog } from "./watchdog/watchdog.ts";

export interface GuardedProgram {
  readonly command: string;
  readonly args: readonly string[];
  /** The whole environment: nothing is inherited. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string | undefined;
  readonly stdout: Writable;
  readonly stderr: Writable;
  /** Whether the program gets an input. @default false */
  readonly hasInput?: boolean;
  /** The process that SIGTERM goes to, if the program only starts it. @default the program itself */
  readonly signalTarget?: (pid: number) => number | undefined;
}

export interface GuardedProcess {
  readonly pid: number;
  /** The input of the program, if it was started with one. */
  readonly stdin: Writable | undefined;
  /** The environment variable by which the processes of this program are found. Give it to helpers that must not outlive it. */
  readonly marker: Readonly<Record<string, string>>;
  /** Resolves when the program itself has exited. */
  readonly exited: Promise<ChildExit>;
  /** Resolves when the program and its descendants have exited, and their output has been passed on. */
  readonly gone: Promise<StopResult>;
  /** SIGTERM now, SIGKILL after `graceMs`. A further call can only make SIGKILL earlier. */
  stop(graceMs: number): void;
}

interface GuardedProcessesOptions {
  readonly clock: Clock;
  /** A process that does not die, output that cannot be passed on, a watchdog that ended. */
  readonly onError: (error: Error) => void;
  /** The watchdog removes this folder if this process dies. @default none */
  readonly temporaryFolder?: string | undefined;
}

const backoff = { firstMs: 100, mostMs: 10_000, jitter: 0 };

export class GuardedProcesses {
  /** In the environment of every process. */
  readonly marker = randomId();
  readonly #options: GuardedProcessesOptions;
  readonly #watchdog: Watchdog;
  readonly #running = new Set<GuardedProcess>();
  readonly #wait = new Backoff(backoff, () => 0);
  #isClosed = false;
  #resolveReady = (): void => {};
  /** Resolves when the watchdog listens. */
  readonly ready: Promise<void>;

  constructor(options: GuardedProcessesOptions) {
    this.#options = options;
    this.ready = new Promise((resolve) => {
      this.#resolveReady = resolve;
    });
    const { clock, onError } = options;
    this.#watchdog = new Watchdog({
      marker: this.marker,
      clock,
      onAnswer: () => this.#resolveReady(),
      onKilled: () => {},
      onEnd: (why) => {
        if (this.#isClosed) return;
        onError(new Error(`The watchdog of the node agent ended: ${why}. Another one is started.`));
        after(clock, this.#wait.next(), () => {
          if (!this.#isClosed) this.#watchdog.start();
        });
      },
    });
  }

  async start(): Promise<void> {
    const { temporaryFolder } = this.#options;
    if (temporaryFolder !== undefined) this.#watchdog.setFolder(temporaryFolder);
    this.#watchdog.start();
    await this.ready;
  }

  async run(program: GuardedProgram): Promise<GuardedProcess> {
    const { clock, onError } = this.#options;
    const { command, args, env, cwd, stdout, stderr, hasInput = false, signalTarget } = program;
    const own = randomId();
    const marker = { [markerVariable]: `${this.marker} ${own}` };
    const manager = new ProcessManager({
      tree: this.#treeOf(own),
      clock,
      channels: { lines: false, ipc: false, fd: undefined },
      logPrefix: undefined,
      stdin: hasInput ? "input" : "ignore",
      stdout,
      stderr,
      ownStdout: stdout,
      ownStderr: stderr,
      signalTarget,
      onEvent: () => {},
      onError,
    });
    const {
      process: child,
      pid,
      exited,
    } = await manager.start({ command, args, env: { ...env, ...marker }, cwd });
    this.#watchdog.addGroup(pid);
    child.stdin?.on("error", () => {});
    const gone = manager.wait().then(async (result) => {
      await manager.flushed();
      return result ?? { exit: await exited, killed: false };
    });
    const running: GuardedProcess = {
      pid,
      stdin: child.stdin ?? undefined,
      marker,
      exited,
      gone,
      stop: (graceMs) => void manager.stop(graceMs),
    };
    this.#running.add(running);
    void gone.then(() => {
      this.#running.delete(running);
      this.#watchdog.forgetGroup(pid);
    });
    return running;
  }

  /** Kills everything that still runs, and ends the watchdog. */
  async close(): Promise<void> {
    this.#isClosed = true;
    for (const process of this.#running) process.stop(0);
    await Promise.all([...this.#running].map(({ gone }) => gone));
    await killUntilGone(this.#treeOf(this.marker), { clock: this.#options.clock });
    await this.#watchdog.close();
  }

  #treeOf(marker: string): ProcessTree {
    return new ProcessTree({
      marker,
      table: procTable(),
      clock: this.#options.clock,
      supervisor: ownPid,
      excluded: () => (this.#watchdog.pid === undefined ? [] : [this.#watchdog.pid]),
      adoptsOrphans: false,
    });
  }
}

/** Kills the processes of an earlier run that was killed together with its watchdog. @param marker the marker of that run */
export async function killLeftProcesses(marker: string, clock: Clock): Promise<number> {
  // They are older than this process, so this process cannot be their supervisor.
  const tree = new ProcessTree({
    marker,
    table: procTable(),
    clock,
    supervisor: 0,
    excluded: () => [ownPid],
  });
  return killUntilGone(tree, { clock });
}

/** Distinguishes this process from a later one with the same pid. Undefined if there is no such process. */
export function processStart(pid: number = ownPid): number | undefined {
  return procTable()
    .read()
    ?.find((row) => row.pid === pid)?.started;
}

/** The exit code as a shell shows it: 128 and the number of the signal for a program that a signal ended. */
export function exitCodeOf({ code, signal }: ChildExit): number {
  return code ?? 128 + (signal === undefined ? 0 : signalNumber(signal));
}
