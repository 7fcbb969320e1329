/**
 * The leader's child process: started when this replica wins the election, monitored while it leads, stopped before the lease
 * is released, and dead before another replica starts its own (G1, G3). Each decision has one owner: the election decides who
 * leads, `phase.ts` which phase this replica is in, `child-end.ts` what follows the end of a child, the process manager when a
 * child has exited completely, and the watchdog what happens when this process cannot act.
 *
 * Does not handle the signals of this process: its owner aborts the signal of `run` and calls `forward`.
 */
import { asError, Emitter, first, systemClock, warn } from "@tenure/base";
import { GateGroup } from "@tenure/traffic/internal";
import type { ChildEnd } from "./child-end.ts";
import { DeadlineFile } from "./deadline-file.ts";
import type { SupervisedTerm } from "./election-seam.ts";
import { SupervisorError } from "./errors.ts";
import type { ChildExit, Outcome, SupervisorEvents, SupervisorStatus } from "./events.ts";
import type { HealthMonitor } from "./health/monitor.ts";
import type { SupervisorOptions } from "./options.ts";
import { nextPhase, type Phase, type PhaseEvent } from "./phase.ts";
import { inheritedEnvironment, ownPid, randomId, signalNumber, temporaryFolder } from "./platform.ts";
import { DescriptorOutput } from "./process/descriptor-output.ts";
import { type ManagerEvent, ProcessManager } from "./process/manager.ts";
import { procTable } from "./process/process-table.ts";
import { markerVariable, ProcessTree } from "./process/process-tree.ts";
import type { Program } from "./process/spawn.ts";
import { type ResolvedOptions, resolveOptions } from "./resolve-options.ts";
import type { RunContext } from "./run-context.ts";
import { serveTerm } from "./serve-term.ts";
import { Watchdog } from "./watchdog/watchdog.ts";

/** Signals that the supervisor forwards to the child. */
export type ForwardedSignal = "SIGHUP" | "SIGUSR1" | "SIGUSR2";

/** How long the end of a run waits until the output of the child is forwarded. Its reader may have stopped reading. */
const flushWithinMs = 1_000;

/** How long a gate may take to close. The next leader waits for it too. */
const gateCloseTimeoutMs = 5_000;

/** If the watchdog and this process kill within this time of each other, neither was late. */
const sameTimeMs = 50;

export class Supervisor {
  readonly #options: ResolvedOptions;
  readonly #events = new Emitter<SupervisorEvents>((error) => warn(asError(error)));
  readonly #context: RunContext;
  readonly #marker = randomId();
  /** Ends the run. */
  readonly #ending = new AbortController();
  #unguarded = new AbortController();
  #phase: Phase = "follower";
  #hasRun = false;
  #starts = 0;
  #restarts = 0;
  #isReady = false;
  #monitor: HealthMonitor | undefined;
  #startedAt: string | undefined;
  #lastExit: ChildExit | undefined;
  #killed = false;
  #killedAtMs = Number.POSITIVE_INFINITY;
  #end: { readonly exitCode: number; readonly childExit?: ChildExit; readonly message?: string } | undefined;

  constructor(options: SupervisorOptions) {
    this.#options = resolveOptions(options);
    this.#context = this.#newContext();
  }

  get phase(): Phase {
    return this.#phase;
  }

  /**
   * Takes part in the election and runs the child while leading, until the signal aborts or, with onExit "exit", the child
   * exits. Resolves when the child and its descendants have exited and the lease is released. A supervisor runs once.
   */
  async run({ signal }: { readonly signal?: AbortSignal } = {}): Promise<Outcome> {
    if (this.#hasRun) {
      throw new SupervisorError("AlreadyRunning", "Cannot run a supervisor twice; create a new one.");
    }
    this.#hasRun = true;
    const { watchdog, deadlineFile, options } = this.#context;
    const onAbort = () => this.#terminate();
    if (signal?.aborted) onAbort();
    signal?.addEventListener("abort", onAbort, { once: true });
    try {
      if (!this.#ending.signal.aborted) {
        await deadlineFile.open();
        if (deadlineFile.folder !== undefined) watchdog.setFolder(deadlineFile.folder);
        // Now, so that the watchdog is ready when this replica wins the election.
        watchdog.start();
        await options.election.run((term) => this.#serve(term), { signal: this.#ending.signal });
      }
    } finally {
      signal?.removeEventListener("abort", onAbort);
      this.#terminate();
      await this.#cleanUp();
    }
    return this.#outcome();
  }

  /** Forwards a signal to the child, or to its process group if the kill mode says so. Does nothing without a child. */
  forward(signal: ForwardedSignal): void {
    this.#context.manager.signal(signal);
  }

  /** Hands over leadership: stops the child, then releases the lease. Does nothing if this replica does not lead. */
  stepDown(): void {
    this.#options.election.stepDown();
  }

  /**
   * Kills a child that is being stopped, instead of waiting any longer. Call it at a second SIGTERM or Ctrl-C. Does nothing if
   * no child is being stopped.
   */
  hurry(): void {
    const { manager } = this.#context;
    if (manager.state === "stopping") void manager.stop(0);
  }

  status(): SupervisorStatus {
    const { manager, watchdog } = this.#context;
    const { pid } = manager;
    const healthy = this.#monitor?.healthy;
    return {
      phase: this.#phase,
      child: {
        state: manager.state,
        ...(pid !== undefined && { pid }),
        restarts: this.#restarts,
        ready: this.#isReady && manager.state === "running",
        ...(healthy !== undefined && { healthy }),
        ...(pid !== undefined && this.#startedAt !== undefined && { startedAt: this.#startedAt }),
        ...(this.#lastExit && { lastExit: this.#lastExit }),
      },
      watchdog: { running: watchdog.isReady, ...(watchdog.pid !== undefined && { pid: watchdog.pid }) },
    };
  }

  /** Adds a listener. The returned function removes it. */
  on<Name extends keyof SupervisorEvents>(
    name: Name,
    listener: (event: SupervisorEvents[Name]) => void,
  ): () => void {
    return this.#events.on(name, listener);
  }

  #serve(term: SupervisedTerm): Promise<void> {
    return serveTerm(this.#context, term, {
      onRestarts: (restarts) => {
        this.#restarts = restarts;
      },
      onReady: (isReady) => {
        this.#isReady = isReady;
      },
      onMonitor: (monitor) => {
        this.#monitor = monitor;
      },
    });
  }

  #newContext(): RunContext {
    const options = this.#options;
    const clock = options.clock ?? systemClock;
    const onError = (error: Error) => this.#report(error);
    const watchdog = new Watchdog({
      marker: this.#marker,
      clock,
      onError,
      onKilled: (pids, atMs) => {
        // Not if this process was killing the child at the same time.
        if (atMs < this.#killedAtMs - sameTimeMs) onError(lateError(pids));
      },
      onUnguarded: () => {
        this.#unguarded.abort();
        this.#unguarded = new AbortController();
      },
    });
    const tree = new ProcessTree({
      marker: this.#marker,
      table: procTable(),
      supervisor: ownPid,
      excluded: () => (watchdog.pid === undefined ? [] : [watchdog.pid]),
    });
    const { ready, logPrefix, stdout, stderr, stopSignal, killMode } = options;
    const manager = new ProcessManager({
      tree,
      clock,
      channels: {
        lines: ready.kind === "log",
        ipc: ready.kind === "ipc",
        fd: ready.kind === "fd" ? ready.fd : undefined,
      },
      logPrefix,
      stdout,
      stderr,
      ownStdout: new DescriptorOutput(1, clock),
      ownStderr: new DescriptorOutput(2, clock),
      pipeFolder: options.deadlineFolder,
      stopSignal,
      killMode,
      onEvent: (event) => this.#onManagerEvent(event),
      onError,
    });
    return {
      options,
      clock,
      manager,
      watchdog,
      gates: new GateGroup(options.gates, { clock, onError, closeTimeoutMs: gateCloseTimeoutMs }),
      deadlineFile: new DeadlineFile(options.deadlineFolder ?? temporaryFolder(), onError),
      unguarded: () => this.#unguarded.signal,
      programFor: (term) => this.#programFor(term),
      enterPhase: (event) => this.#enterPhase(event),
      onChild: (event) => {
        if (event.type === "started") {
          this.#startedAt = new Date(clock.now().wallMs).toISOString();
          this.#killedAtMs = Number.POSITIVE_INFINITY;
        }
        this.#events.emit("child", event);
      },
      onHealth: (event) => this.#events.emit("health", event),
      onError,
      endRun: (end) => this.#endRun(end),
    };
  }

  #programFor(term: SupervisedTerm): Program {
    const { command, args, cwd, user, env, electionName } = this.#options;
    const inherited = inheritedEnvironment();
    this.#starts += 1;
    // An outer supervisor must find this child too, so its markers are kept.
    const markers = [inherited[markerVariable], `${this.#marker}.${this.#starts}`].filter(Boolean).join(" ");
    return {
      command,
      args,
      cwd,
      user,
      env: {
        ...inherited,
        ...env,
        TENURE_IDENTITY: term.identity,
        TENURE_ELECTION: electionName,
        TENURE_TOKEN: String(term.token),
        TENURE_DEADLINE_FILE: this.#context.deadlineFile.path,
        [markerVariable]: markers,
      },
    };
  }

  #onManagerEvent(event: ManagerEvent): void {
    if (event.type === "killing") this.#killedAtMs = this.#context.clock.now().monoMs;
    if (event.type === "exited") this.#lastExit = event.exit;
    if (event.type === "stopped") this.#context.watchdog.forgetGroup(event.pid);
    if (event.type === "stopped" && this.#phase === "terminating") this.#killed ||= event.killed;
    this.#events.emit("child", event);
  }

  #enterPhase(event: PhaseEvent): void {
    const from = this.#phase;
    this.#phase = nextPhase(from, event);
    if (this.#phase !== from) this.#events.emit("phase", { phase: this.#phase, from });
  }

  #terminate(): void {
    this.#enterPhase("terminate");
    this.#ending.abort();
  }

  /** Ends the run because the child ended. */
  #endRun(end: ChildEnd): void {
    if (end.type === "exited") {
      this.#end = { exitCode: exitCodeOf(end.exit), childExit: end.exit, message: end.why };
    } else if (end.type === "not-spawned") {
      this.#end = { exitCode: end.exitCode, message: end.why };
    } else if (end.type === "completed") {
      this.#end = { exitCode: 0 };
    }
    this.#terminate();
  }

  async #cleanUp(): Promise<void> {
    const { manager, gates, watchdog, deadlineFile, clock } = this.#context;
    // There is a child to stop only if the election failed while its work was running.
    await manager.stop(0);
    await gates.close();
    await first(clock, { flushed: manager.flushed(), late: flushWithinMs });
    await watchdog.close();
    await deadlineFile.remove();
  }

  #outcome(): Outcome {
    const killed = this.#killed;
    if (this.#end) return { ...this.#end, killed };
    if (!killed) return { exitCode: 0, killed };
    return { exitCode: 1, killed, message: "the child did not stop in time and was killed" };
  }

  #report(error: Error): void {
    if (this.#events.has("error")) this.#events.emit("error", { error });
    else warn(error);
  }
}

function lateError(pids: readonly number[]): SupervisorError {
  return new SupervisorError(
    "KilledByWatchdog",
    `The watchdog killed the child (${pids.length} processes), because it was still running when its term ran out: this process ` +
      "was stopped, its event loop was blocked, or it was too slow.",
  );
}

function exitCodeOf({ code, signal }: ChildExit): number {
  return signal === undefined ? (code ?? 1) : 128 + signalNumber(signal);
}
