/**
 * Performs the effects of the machine on real processes, files and gates, and turns what happens there into its events. It
 * decides nothing.
 */
import type { ChildProcess } from "node:child_process";
import { type Clock, formatDuration, type Instant, messageOf } from "@tenure/base";
import { GateGroup } from "@tenure/traffic/internal";
import { runCheck } from "./check/run.ts";
import type { CheckContext } from "./check/spec.ts";
import { childProgram } from "./child-program.ts";
import { readCompletion, recordCompletion } from "./completion.ts";
import { DeadlineFile } from "./deadline-file.ts";
import { type SupervisedTerm, tokenOf } from "./election-seam.ts";
import { describeProblem, SupervisorError } from "./errors.ts";
import type { SupervisorEvents } from "./events.ts";
import type { Effect, Event } from "./machine/types.ts";
import { inheritedEnvironment, ownPid, randomId, temporaryFolder } from "./platform.ts";
import { childCgroup } from "./process/child-cgroup.ts";
import { DescriptorOutput } from "./process/descriptor-output.ts";
import { runHook } from "./process/hook.ts";
import { killUntilGone } from "./process/kill.ts";
import { type ManagerEvent, ProcessManager } from "./process/manager.ts";
import { procTable } from "./process/process-table.ts";
import { markerVariable, ProcessTree } from "./process/process-tree.ts";
import { exitCodeOfSpawnFailure, type Program } from "./process/spawn.ts";
import { prepareReady, type WaitUntilReady } from "./ready/wait.ts";
import type { ResolvedOptions } from "./resolve-options.ts";
import { Watchdog } from "./watchdog/watchdog.ts";

interface ShellOptions {
  readonly options: ResolvedOptions;
  readonly clock: Clock;
  readonly send: (event: Event) => void;
  readonly emit: <Name extends keyof SupervisorEvents>(name: Name, event: SupervisorEvents[Name]) => void;
  /** The term that is served. */
  readonly term: () => SupervisedTerm | undefined;
  readonly finishTerm: () => void;
  readonly endElection: () => void;
}

/** How long one readiness check may take if there is no health check whose timeout applies. */
const readyCheckTimeoutMs = 1_000;
/** The machine waits less for gates. This limit only ends what nobody waits for. */
const gateCloseTimeoutMs = 5_000;

export class Shell {
  readonly manager: ProcessManager;
  readonly watchdog: Watchdog;
  readonly deadlineFile: DeadlineFile;
  readonly #parts: ShellOptions;
  readonly #marker: string;
  readonly #tree: ProcessTree;
  readonly #gates: GateGroup;
  /** Checks and hooks that run. */
  readonly #running = new Map<number, AbortController>();
  #starts = 0;
  #program: Program | undefined;
  #waitUntilReady: WaitUntilReady | undefined;
  #process: ChildProcess | undefined;
  /** Ends the wait for the present child to be ready. */
  #ready = new AbortController();
  #published: Promise<void> = Promise.resolve();

  constructor(parts: ShellOptions) {
    const { options, clock, send } = parts;
    const onError = (error: Error) => parts.emit("error", { error });
    this.#parts = parts;
    this.#marker = options.watchdog?.marker ?? randomId();
    this.watchdog = new Watchdog({
      marker: this.#marker,
      clock,
      onAnswer: (question) => send({ type: "watchdog-answered", question }),
      onEnd: (why) => send({ type: "watchdog-ended", why }),
      onKilled: (pids, sinceMs) => send({ type: "watchdog-killed", pids, sinceMs }),
      started: options.watchdog,
    });
    this.#tree = new ProcessTree({
      marker: this.#marker,
      table: procTable(),
      clock,
      supervisor: ownPid,
      cgroup: childCgroup(this.#marker),
      excluded: () => (this.watchdog.pid === undefined ? [] : [this.watchdog.pid]),
    });
    const { ready, logPrefix, stdout, stderr, warm, stopSignal, killMode, deadlineFolder } = options;
    this.manager = new ProcessManager({
      tree: this.#tree,
      clock,
      channels: {
        lines: ready.kind === "log",
        ipc: ready.kind === "ipc" || warm,
        fd: ready.kind === "fd" ? ready.fd : undefined,
      },
      logPrefix,
      stdout,
      stderr,
      ownStdout: new DescriptorOutput(1, clock),
      ownStderr: new DescriptorOutput(2, clock),
      pipeFolder: deadlineFolder,
      stopSignal,
      killMode,
      onEvent: (event) => this.#onManagerEvent(event),
      onError,
    });
    this.#gates = new GateGroup(options.gates, { clock, onError, closeTimeoutMs: gateCloseTimeoutMs });
    this.deadlineFile = new DeadlineFile(options.deadlineFolder ?? temporaryFolder(), onError);
    this.watchdog.setFiles(options.gates.flatMap(({ path }) => (path === undefined ? [] : [path])));
  }

  /** Whether any process of the child runs, by the process table. */
  hasProcesses(): boolean {
    return this.#tree.find().length > 0;
  }

  perform(effect: Effect): void {
    const { manager, watchdog } = this;
    const { options, emit } = this.#parts;
    switch (effect.type) {
      case "prepare":
        void this.#prepare(effect.id);
        return;
      case "start-child":
        this.#startChild(effect.id);
        return;
      case "stop-child":
        this.#ready.abort();
        void manager.stop(effect.timeoutMs);
        return;
      case "tell-child":
        this.#tellChild(effect.what);
        return;
      case "publish-deadline":
        this.#published = this.#publish(effect.deadline);
        return;
      case "no-deadline":
        watchdog.setDeadline(undefined);
        return;
      case "run-check":
        this.#runCheck(effect.id);
        return;
      case "cancel-check":
        this.#running.get(effect.id)?.abort(new Error(effect.why));
        return;
      case "stop-hook":
        this.#running.get(effect.id)?.abort(new Error("it took too long"));
        return;
      case "open-gates":
        this.#openGates();
        return;
      case "renew-gates":
        this.#withTerm((term) => this.#gates.renewed(term));
        return;
      case "close-gates":
        void this.#gates.close().then(() => this.#parts.send({ type: "gates-closed", id: effect.id }));
        return;
      case "run-hook":
        this.#runHook(effect);
        return;
      case "start-watchdog":
        watchdog.start();
        return;
      case "kill-watchdog":
        watchdog.kill();
        return;
      case "ask-watchdog":
        watchdog.ask(effect.question);
        return;
      case "step-down":
        options.election.stepDown({ cooldown: formatDuration(effect.cooldownMs) });
        return;
      case "finish-term":
        this.#parts.finishTerm();
        return;
      case "end-election":
        this.#parts.endElection();
        return;
      case "phase":
        emit("phase", { phase: effect.phase, from: effect.from });
        return;
      case "child":
        emit("child", effect.event);
        return;
      case "health":
        emit("health", effect.event);
        return;
      case "report":
        emit("error", { error: describeProblem(effect.problem) });
        return;
    }
  }

  async #prepare(id: number): Promise<void> {
    const { options, clock, send, term, emit } = this.#parts;
    const program = this.#newProgram();
    const { completion } = options;
    const served = term();
    if (completion && served) {
      const onError = (error: Error) => emit("error", { error });
      const isDone = await readCompletion(completion, { clock, signal: served.signal, onError });
      // Undefined if the term ended first. Then nothing is started.
      if (isDone) send({ type: "already-done", id });
      if (isDone !== false) return;
    }
    const waitUntilReady = await prepareReady(options.ready, {
      clock,
      context: contextOf(program),
      checkTimeoutMs: options.health?.timeoutMs ?? readyCheckTimeoutMs,
    });
    await this.#published;
    this.#program = program;
    this.#waitUntilReady = waitUntilReady;
    send({ type: "prepared", id });
  }

  /** Starts the child, and sends its process group to the watchdog before anything is awaited. */
  #startChild(id: number): void {
    const { send } = this.#parts;
    const { manager, watchdog } = this;
    if (!this.#program)
      throw new Error("bug in @tenure/supervisor: a child that was not prepared is started");
    const starting = manager.start(this.#program);
    if (manager.pid !== undefined) watchdog.addGroup(manager.pid);
    const ready = new AbortController();
    this.#ready = ready;
    starting.then(
      ({ pid, process: child }) => {
        this.#process = child;
        child.on("message", (message) => message === "stopped" && send({ type: "child-quiet" }));
        send({ type: "child-started", pid });
        const onMissing = (message: string) => send({ type: "child-missing", id, message });
        void this.#waitUntilReady?.(child, ready.signal, onMissing).then(() =>
          send({ type: "child-ready", id }),
        );
      },
      (error) => {
        const exitCode = error instanceof SupervisorError ? exitCodeOfSpawnFailure(error) : 126;
        send({ type: "child-not-started", why: messageOf(error), exitCode });
      },
    );
  }

  #onManagerEvent(event: ManagerEvent): void {
    const { send, emit } = this.#parts;
    emit("child", event);
    if (event.type === "killing") send({ type: "child-killing" });
    if (event.type === "exited") send({ type: "child-exited", exit: event.exit });
    if (event.type !== "stopped") return;
    this.#ready.abort();
    this.watchdog.forgetGroup(event.pid);
    send({ type: "child-gone", exit: event.exit, killed: event.killed });
  }

  #tellChild(what: "begin" | "end"): void {
    const token = String(tokenOf(this.#parts.term()));
    const message = what === "begin" ? { tenure: what, token } : { tenure: what };
    // A child that closed its channel cannot be told. It is killed when it does not answer.
    if (this.#process?.connected) this.#process.send(message, () => {});
  }

  async #publish(at: Instant): Promise<void> {
    const { options, term } = this.#parts;
    const { killMarginMs } = options;
    this.watchdog.setDeadline({ monoMs: at.monoMs - killMarginMs, wallMs: at.wallMs - killMarginMs });
    // The watchdog is asked whether it knows the deadline, and answers while the file is written.
    await undefined;
    const token = tokenOf(term());
    if (token !== undefined) await this.deadlineFile.write(at, token);
  }

  #openGates(): void {
    const { send, emit } = this.#parts;
    this.#withTerm((term) => {
      this.#gates.open(term).catch((error: Error) => {
        emit("error", { error });
        send({ type: "gates-failed", why: error.message });
      });
    });
  }

  #withTerm(act: (term: SupervisedTerm) => void): void {
    const term = this.#parts.term();
    if (term) act(term);
  }

  #runCheck(id: number): void {
    const { options, send } = this.#parts;
    const { health } = options;
    if (!health || !this.#program) return;
    const context = contextOf(this.#program);
    void this.#track(id, (signal) => runCheck(health.check, context, signal)).then((failure) =>
      send({ type: "check-ended", id, failure }),
    );
  }

  #runHook({ id, hook, role }: Effect & { type: "run-hook" }): void {
    if (hook === "recordCompletion") {
      this.#recordCompletion(id);
      return;
    }
    const { options, send, clock } = this.#parts;
    const argv = options.hooks[hook]?.argv ?? [];
    const { env, cwd } = contextOf(this.#newProgram());
    const isGuarded = hook !== "roleChange";
    // Nothing waits for a hook that only reports the role, so it is not a process of the child.
    const markers = isGuarded ? {} : { [markerVariable]: inheritedEnvironment()[markerVariable] };
    const context = { env: { ...env, ...markers, TENURE_ROLE: role }, cwd };
    void this.#track(id, (signal) => runHook(argv, { ...context, signal })).then(async (failure) => {
      // The hook runs while there is no child, so every process with the marker is its own.
      if (isGuarded) await killUntilGone(this.#tree, { clock });
      send({ type: "hook-ended", id, failure });
    });
  }

  #recordCompletion(id: number): void {
    const { options, send, clock, term, emit } = this.#parts;
    const onError = (error: Error) => emit("error", { error });
    void this.#track(id, (signal) =>
      recordCompletion(options.completion, term(), { clock, signal, onError }),
    ).then((failure) => send({ type: "hook-ended", id, failure }));
  }

  /** Resolves with the reason if it fails. */
  async #track(id: number, run: (signal: AbortSignal) => Promise<void>): Promise<string | undefined> {
    const controller = new AbortController();
    this.#running.set(id, controller);
    try {
      await run(controller.signal);
      return undefined;
    } catch (error) {
      return messageOf(error);
    } finally {
      this.#running.delete(id);
    }
  }

  #newProgram(): Program {
    const { options, term } = this.#parts;
    this.#starts += 1;
    return childProgram(options, {
      marker: `${this.#marker}.${this.#starts}`,
      token: tokenOf(term()),
      deadlinePath: this.deadlineFile.path,
    });
  }
}

function contextOf({ env, cwd }: Program): CheckContext {
  return { env, cwd };
}
