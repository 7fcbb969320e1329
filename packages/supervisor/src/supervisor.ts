/**
 * The leader's child process: started when this replica wins the election, monitored while it leads, stopped before the lease
 * is released, and dead before another replica starts its own (G1, G3). The machine decides, the shell acts, and the watchdog
 * acts when this process cannot.
 *
 * Does not handle the signals of this process: its owner aborts the signal of `run` and calls `forward`.
 */
import { asError, type Clock, Emitter, first, type Instant, onAbort, systemClock, warn } from "@tenure/base";
import { describeCheck } from "./check/run.ts";
import type { SupervisedTerm } from "./election-seam.ts";
import { SupervisorError } from "./errors.ts";
import type { ChildExit, Outcome, SupervisorEvents, SupervisorStatus } from "./events.ts";
import type { Phase } from "./machine/phase.ts";
import { phaseOf } from "./machine/queries.ts";
import type { Config, State } from "./machine/types.ts";
import { MachineLoop } from "./machine-loop.ts";
import type { SupervisorOptions } from "./options.ts";
import { signalNumber } from "./platform.ts";
import { type ResolvedOptions, resolveOptions } from "./resolve-options.ts";
import { Shell } from "./shell.ts";

/** Signals that the supervisor forwards to the child. */
export type ForwardedSignal = "SIGHUP" | "SIGUSR1" | "SIGUSR2";

/** How long the end of a run waits until the output of the child is forwarded. Its reader may have stopped reading. */
const flushWithinMs = 1_000;

export class Supervisor {
  readonly #options: ResolvedOptions;
  readonly #clock: Clock;
  readonly #events = new Emitter<SupervisorEvents>((error) => warn(asError(error)));
  readonly #machine: MachineLoop;
  readonly #shell: Shell;
  /** Ends the run. */
  readonly #ending = new AbortController();
  #hasRun = false;
  #term: SupervisedTerm | undefined;
  #onFinished: () => void = () => {};

  constructor(options: SupervisorOptions) {
    this.#options = resolveOptions(options);
    this.#clock = options.clock ?? systemClock;
    this.#shell = new Shell({
      options: this.#options,
      clock: this.#clock,
      send: (event) => this.#machine.send(event),
      emit: (name, event) => this.#emit(name, event),
      term: () => this.#term,
      finishTerm: () => this.#onFinished(),
      endElection: () => this.#ending.abort(),
    });
    this.#machine = new MachineLoop(configOf(this.#options), this.#clock, (effect) =>
      this.#shell.perform(effect),
    );
  }

  get phase(): Phase {
    return phaseOf(this.#machine.state);
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
    const { deadlineFile, watchdog } = this.#shell;
    const onAborted = () => this.#machine.send({ type: "terminate" });
    const offAbort = signal && !signal.aborted ? onAbort(signal, onAborted) : () => {};
    if (signal?.aborted) onAborted();
    try {
      if (!this.#ending.signal.aborted) {
        deadlineFile.open();
        if (deadlineFile.folder !== undefined) watchdog.setFolder(deadlineFile.folder);
        // Now, so that the watchdog is ready when this replica wins the election.
        this.#machine.send({ type: "start" });
        await this.#options.election.run((term) => this.#serve(term), { signal: this.#ending.signal });
      }
    } finally {
      offAbort();
      this.#machine.send({ type: "terminate" });
      await this.#cleanUp();
    }
    return outcomeOf(this.#machine.state);
  }

  /** Forwards a signal to the child, or to its process group if the kill mode says so. Does nothing without a child. */
  forward(signal: ForwardedSignal): void {
    this.#shell.manager.signal(signal);
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
    this.#machine.send({ type: "hurry" });
  }

  /** Whether any process of the child runs at this moment, by the process table. */
  hasProcesses(): boolean {
    return this.#shell.hasProcesses();
  }

  status(): SupervisorStatus {
    const { manager, watchdog } = this.#shell;
    const { child, health, restarts, startedMs, lastExit, isDegraded, watchdog: guard } = this.#machine.state;
    const { pid } = manager;
    const now = this.#clock.now();
    return {
      phase: this.phase,
      degraded: isDegraded,
      child: {
        state: manager.state,
        ...(pid !== undefined && { pid }),
        restarts,
        ready: child.name === "running" && child.isReady && manager.state === "running",
        ...(health.healthy !== undefined && { healthy: health.healthy }),
        ...(pid !== undefined && { startedAt: wallTime(now, startedMs) }),
        ...(lastExit && { lastExit }),
      },
      watchdog: {
        running: guard.name === "ready",
        ...(watchdog.pid !== undefined && { pid: watchdog.pid }),
        ...(guard.heardMs !== undefined && { lastHeartbeatMs: Math.round(now.monoMs - guard.heardMs) }),
      },
    };
  }

  /** Adds a listener. The returned function removes it. */
  on<Name extends keyof SupervisorEvents>(
    name: Name,
    listener: (event: SupervisorEvents[Name]) => void,
  ): () => void {
    return this.#events.on(name, listener);
  }

  /** The work of one term. When it resolves, the election may release the lease. It releases only a term that was not lost. */
  async #serve(term: SupervisedTerm): Promise<void> {
    this.#term = term;
    const finished = new Promise<void>((resolve) => {
      this.#onFinished = resolve;
    });
    this.#machine.send({ type: "term-began", token: BigInt(term.token), deadline: this.#deadline(term) });
    const onLost = () => this.#machine.send({ type: "term-lost", deadline: this.#deadline(term) });
    // A loss aborts `signal` first. A child whose term has expired is killed without being asked to stop.
    const onEnding = () => (term.isValid() ? this.#machine.send({ type: "term-ending" }) : onLost());
    const stops = [
      this.#options.election.on("renewed", () =>
        this.#machine.send({ type: "renewed", deadline: this.#deadline(term) }),
      ),
      listen(term.lost, onLost),
      listen(term.expired, onLost),
      listen(term.signal, onEnding),
    ];
    await finished;
    for (const stop of stops) stop();
    this.#term = undefined;
  }

  /**
   * Reads the clock before it asks for the remaining time. A process that is frozen between the two gets a deadline that is too
   * early, never one that is too late.
   */
  #deadline(term: SupervisedTerm): Instant {
    const now = this.#clock.now();
    const remainingMs = term.expired.aborted ? 0 : term.remainingMs();
    return { monoMs: now.monoMs + remainingMs, wallMs: now.wallMs + remainingMs };
  }

  async #cleanUp(): Promise<void> {
    const { manager, watchdog, deadlineFile } = this.#shell;
    // The election failed while its work was running: nobody renews the term any more.
    if (this.#term) this.#machine.send({ type: "term-lost", deadline: this.#clock.now() });
    // A warm child that did not work may still be stopping.
    await manager.wait();
    await first(this.#clock, { flushed: manager.flushed(), late: flushWithinMs });
    this.#machine.close();
    await watchdog.close();
    await deadlineFile.remove();
  }

  #emit<Name extends keyof SupervisorEvents>(name: Name, event: SupervisorEvents[Name]): void {
    if (name !== "error" || this.#events.has("error")) this.#events.emit(name, event);
    else warn((event as SupervisorEvents["error"]).error);
  }
}

function configOf({ hooks, health, completion, ...options }: ResolvedOptions): Config {
  const limits = Object.entries(hooks).map(([name, hook]) => [name, hook?.timeoutMs]);
  return {
    ...options,
    hookTimeoutMs: {
      ...Object.fromEntries(limits),
      // Tried until the term ends.
      ...(completion && { recordCompletion: Number.POSITIVE_INFINITY }),
    },
    health: health && { ...health, check: describeCheck(health.check) },
  };
}

function outcomeOf({ endedBy, wasKilled: killed }: State): Outcome {
  if (endedBy?.type === "exited") {
    return { exitCode: exitCodeOf(endedBy.exit), childExit: endedBy.exit, message: endedBy.why, killed };
  }
  if (endedBy?.type === "not-spawned") {
    return { exitCode: endedBy.exitCode, message: endedBy.why, killed };
  }
  if (!killed) return { exitCode: 0, killed };
  return { exitCode: 1, killed, message: "the child did not stop in time and was killed" };
}

function exitCodeOf({ code, signal }: ChildExit): number {
  return signal === undefined ? (code ?? 1) : 128 + signalNumber(signal);
}

function wallTime(now: Instant, monoMs: number): string {
  return new Date(now.wallMs - (now.monoMs - monoMs)).toISOString();
}

function listen(signal: AbortSignal, listener: () => void): () => void {
  if (signal.aborted) listener();
  else signal.addEventListener("abort", listener, { once: true });
  return () => signal.removeEventListener("abort", listener);
}
