/**
 * The leader's child process: started when this replica wins the election, watched while it leads, stopped before the lease is
 * released, and gone before another replica may start (G1, G3). One owner for each decision: the election says who leads, the
 * phase table where we stand, `after.ts` what follows a child's end, the process manager when a child is gone, the watchdog what
 * happens when this process cannot do anything.
 *
 * Does not handle signals of this process: whoever owns the process aborts the signal of `run`, and calls `forward`.
 */
import { constants } from "node:os";
import { Emitter, first } from "@tenure/base";
import type { StintEnd } from "./after.ts";
import type { Crew } from "./crew.ts";
import { DeadlineFile } from "./deadline-file.ts";
import { SupervisorError } from "./errors.ts";
import type { ChildExit, Outcome, SupervisorEvents, SupervisorStatus } from "./events.ts";
import { Gatekeeper } from "./gatekeeper.ts";
import type { HealthMonitor } from "./health/monitor.ts";
import type { TermLike } from "./office.ts";
import type { SupervisorOptions } from "./options.ts";
import { nextPhase, type Phase, type PhaseEvent } from "./phase.ts";
import { inheritedEnvironment, ownPid, randomId, systemClock, warn } from "./platform.ts";
import { Family, markerVariable } from "./process/family.ts";
import { type ManagerEvent, ProcessManager } from "./process/manager.ts";
import type { Program } from "./process/spawn.ts";
import { procTable } from "./process/table.ts";
import { type ResolvedOptions, resolveOptions } from "./resolve-options.ts";
import { serveTerm } from "./serve-term.ts";
import { Watchdog } from "./watchdog/watchdog.ts";

/** Signals that are passed on to the child. */
export type ForwardedSignal = "SIGHUP" | "SIGUSR1" | "SIGUSR2";

/** What was printed before the end is passed on, but nobody waits long for a reader that does not read. */
const flushWithinMs = 1_000;

/** The watchdog and this process killed within so long: neither was late. */
const sameTimeMs = 50;

export class Supervisor {
  readonly #options: ResolvedOptions;
  readonly #events = new Emitter<SupervisorEvents>((error) => warn(error));
  readonly #crew: Crew;
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
  #end: { readonly exitCode: number; readonly childExit?: ChildExit; readonly message: string } | undefined;

  constructor(options: SupervisorOptions) {
    this.#options = resolveOptions(options);
    this.#crew = this.#makeCrew();
  }

  get phase(): Phase {
    return this.#phase;
  }

  /**
   * Takes part in the election and runs the child while leading, until the signal aborts, or, with onExit "exit", the child
   * ends. Resolves when nothing is left of the child and the lease was released. A supervisor runs once.
   */
  async run({ signal }: { readonly signal?: AbortSignal } = {}): Promise<Outcome> {
    if (this.#hasRun) {
      throw new SupervisorError("AlreadyRunning", "Cannot run a supervisor twice: make another one.");
    }
    this.#hasRun = true;
    const { watchdog, deadlineFile, options } = this.#crew;
    const onAbort = () => this.#terminate();
    if (signal?.aborted) onAbort();
    signal?.addEventListener("abort", onAbort, { once: true });
    try {
      if (!this.#ending.signal.aborted) {
        await deadlineFile.open();
        // Now, and not when the election is won: it is there by then.
        if (deadlineFile.folder !== undefined) watchdog.setFolder(deadlineFile.folder);
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

  /** Passes a signal on to the child's process group. Does nothing without a child. */
  forward(signal: ForwardedSignal): void {
    this.#crew.manager.signal(signal);
  }

  /** Hands over on purpose: the child is stopped, then the lease released. Does nothing when this replica does not lead. */
  stepDown(): void {
    this.#options.election.stepDown();
  }

  /**
   * Does not wait any longer for a child that is being stopped: it is killed now. For whoever asks a second time (SIGTERM,
   * Ctrl-C). Does nothing when no child is being stopped.
   */
  hurry(): void {
    const { manager } = this.#crew;
    if (manager.state === "stopping") void manager.stop(0);
  }

  status(): SupervisorStatus {
    const { manager, watchdog } = this.#crew;
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

  /** Listens. The result ends it. */
  on<Name extends keyof SupervisorEvents>(
    name: Name,
    listener: (event: SupervisorEvents[Name]) => void,
  ): () => void {
    return this.#events.on(name, listener);
  }

  #serve(term: TermLike): Promise<void> {
    return serveTerm(this.#crew, term, {
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

  #makeCrew(): Crew {
    const options = this.#options;
    const clock = options.clock ?? systemClock;
    const onError = (error: Error) => this.#failed(error);
    const watchdog = new Watchdog({
      marker: this.#marker,
      clock,
      onError,
      onKilled: (pids, atMs) => {
        // Not when both of us were at it.
        if (atMs < this.#killedAtMs - sameTimeMs) onError(lateError(pids));
      },
      onUnguarded: () => {
        this.#unguarded.abort();
        this.#unguarded = new AbortController();
      },
    });
    const family = new Family({
      marker: this.#marker,
      table: procTable(),
      supervisor: ownPid,
      spared: () => (watchdog.pid === undefined ? [] : [watchdog.pid]),
    });
    const { ready, logPrefix, stdout, stderr } = options;
    const manager = new ProcessManager({
      family,
      clock,
      channels: {
        lines: ready.kind === "log",
        ipc: ready.kind === "ipc",
        fd: ready.kind === "fd" ? ready.fd : undefined,
      },
      logPrefix,
      stdout,
      stderr,
      ownStdout: process.stdout,
      ownStderr: process.stderr,
      onEvent: (event) => this.#managed(event),
      onError,
    });
    return {
      options,
      clock,
      manager,
      watchdog,
      gates: new Gatekeeper(options.gates, clock, onError),
      deadlineFile: new DeadlineFile(options.deadlineFolder, onError),
      unguarded: () => this.#unguarded.signal,
      programFor: (term) => this.#programFor(term),
      enter: (event) => this.#enter(event),
      onChild: (event) => {
        if (event.type === "started") {
          this.#startedAt = new Date(clock.now().wallMs).toISOString();
          this.#killedAtMs = Number.POSITIVE_INFINITY;
        }
        this.#events.emit("child", event);
      },
      onHealth: (event) => this.#events.emit("health", event),
      exit: (end) => this.#exit(end),
    };
  }

  #programFor(term: TermLike): Program {
    const { command, args, cwd, env, electionName } = this.#options;
    const inherited = inheritedEnvironment();
    this.#starts += 1;
    // Of a supervisor within a supervisor the outer one must find everything too.
    const markers = [inherited[markerVariable], `${this.#marker}.${this.#starts}`].filter(Boolean).join(" ");
    return {
      command,
      args,
      cwd,
      env: {
        ...inherited,
        ...env,
        TENURE_IDENTITY: term.identity,
        TENURE_ELECTION: electionName,
        TENURE_TOKEN: String(term.token),
        TENURE_DEADLINE_FILE: this.#crew.deadlineFile.path,
        [markerVariable]: markers,
      },
    };
  }

  #managed(event: ManagerEvent): void {
    if (event.type === "killing") this.#killedAtMs = this.#crew.clock.now().monoMs;
    if (event.type === "exited") this.#lastExit = event.exit;
    if (event.type === "stopped") this.#crew.watchdog.forgetGroup(event.pid);
    if (event.type === "stopped" && this.#phase === "terminating") this.#killed ||= event.killed;
    this.#events.emit("child", event);
  }

  #enter(event: PhaseEvent): void {
    const from = this.#phase;
    this.#phase = nextPhase(from, event);
    if (this.#phase !== from) this.#events.emit("phase", { phase: this.#phase, from });
  }

  #terminate(): void {
    this.#enter("terminate");
    this.#ending.abort();
  }

  /** The child's end is the end of the run. */
  #exit(end: StintEnd): void {
    if (end.type === "exited") {
      this.#end = { exitCode: exitCodeOf(end.exit), childExit: end.exit, message: end.why };
    } else if (end.type === "not-spawned") {
      this.#end = { exitCode: end.exitCode, message: end.why };
    }
    this.#terminate();
  }

  async #cleanUp(): Promise<void> {
    const { manager, gates, watchdog, deadlineFile, clock } = this.#crew;
    // Nothing, unless the election failed while the work was going on.
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

  #failed(error: Error): void {
    if (this.#events.has("error")) this.#events.emit("error", { error });
    else warn(error);
  }
}

function lateError(pids: readonly number[]): SupervisorError {
  return new SupervisorError(
    "KilledByWatchdog",
    `The watchdog killed the child (${pids.length} processes), because it was still there when its term ran out: this process ` +
      "was stopped, its event loop blocked, or it was too slow.",
  );
}

function exitCodeOf({ code, signal }: ChildExit): number {
  if (signal === undefined) return code ?? 1;
  return 128 + (constants.signals[signal as keyof typeof constants.signals] ?? 0);
}
