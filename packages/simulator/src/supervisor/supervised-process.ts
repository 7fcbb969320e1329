/**
 * A replica of `tenure run`: a tenure candidate, the machine of the supervisor, and models of its child and its watchdog. The
 * child works from its start to its death. If the supervisor is frozen or killed, the child and the watchdog run on.
 */
import { type Config, isBefore, type LeaderRecord } from "@tenure/core";
import type { Lock } from "@tenure/election";
import { Candidate, formatTransfer, type Notice, orderAnnotations } from "@tenure/election/internal";
import { type Effect, MachineLoop } from "@tenure/supervisor/internal";
import {
  type CandidateProcess,
  cooldownMs,
  killTakesMs,
  type ProcessParts,
  TenureCandidate,
} from "../process.ts";
import type { StoredLock } from "../server.ts";
import { Witness } from "../witness.ts";
import { WatchdogModel } from "./watchdog-model.ts";

const supervisor = {
  startTimeoutMs: 60_000,
  stopTimeoutMs: 25_000,
  killMarginMs: 500,
  onExit: "restart",
  // Whether a free lock is acquired at once can only be checked if no replica stays out for long.
  maxRestarts: Number.MAX_SAFE_INTEGER,
  restartWindowMs: 600_000,
  stableAfterMs: 60_000,
  cooldownMs,
  whenUnhealthy: "yield",
  warm: false,
  health: undefined,
  hookTimeoutMs: {},
} as const;

interface Child {
  readonly pid: number;
  /** The process manager kills it then. */
  killAtMs: number;
}

export class SupervisedProcess extends TenureCandidate implements CandidateProcess {
  readonly leaseMs: number;
  readonly #candidate: Candidate;
  readonly #supervisor: MachineLoop;
  readonly #watchdog: WatchdogModel;
  readonly witness = new Witness();
  #child: Child | undefined;
  #pids = 0;

  /** @param parts.calmAfterMs when all faults have ended */
  constructor(config: Config, parts: ProcessParts & { readonly calmAfterMs: number }) {
    super(parts);
    const { id, machine, calmAfterMs } = parts;
    this.leaseMs = config.timings.leaseDurationMs;
    const lock: Lock = {
      description: "lease sim/sim",
      read: () => machine.link.send(undefined),
      write: (record, view) => {
        const over = view as StoredLock | undefined;
        return machine.link.send({ writer: id, record, over, annotations: over?.object.annotations ?? {} });
      },
      acceptTransfer: (view) => {
        const { object, record, orders, ...over } = view as StoredLock;
        const accepted = orders?.transfer && formatTransfer(orders.transfer);
        const annotations = { ...object.annotations, [orderAnnotations.transferAccepted]: accepted ?? "" };
        return machine.link.send({ writer: id, record, over, annotations });
      },
      watch: (observer, signal) => machine.link.watch(observer, signal),
    };
    this.#candidate = new Candidate({
      // The supervisor kills work that does not stop.
      config: { ...config, drainTimeoutMs: Number.POSITIVE_INFINITY },
      lock: this.witness.of(lock),
      clock: machine.clock,
      random: machine.random.next,
      onNotice: (notice) => this.#onNotice(notice),
    });
    this.#supervisor = new MachineLoop(supervisor, machine.clock, (effect) => this.#perform(effect));
    this.#watchdog = new WatchdogModel({
      scheduler: this.scheduler,
      machine,
      killMarginMs: supervisor.killMarginMs,
      calmAfterMs,
      send: (delayMs, event) => this.after(delayMs, () => this.#supervisor.send(event)),
      kill: () => this.#dieAfterKill(),
    });
  }

  get isLeading(): boolean {
    return this.#child !== undefined && this.machine.isRunning;
  }

  get highestRevision(): bigint {
    return this.witness.highestRevision;
  }

  get longestLeaseMs(): number {
    return Math.max(this.leaseMs, this.witness.longestLeaseMs);
  }

  knows(uid: string): boolean {
    return this.witness.knows(uid);
  }

  knewWhenSending(record: LeaderRecord, uid: string): boolean {
    return this.witness.knewWhenSending(record, uid);
  }

  start(): void {
    this.checker.started(this);
    this.#supervisor.send({ type: "start" });
    this.#candidate.send({ type: "start" });
  }

  shutdown(): void {
    this.machine.defer(() => {
      this.isStopping = true;
      this.checker.unready(this.id);
      this.#supervisor.send({ type: "terminate" });
    });
  }

  stepDown(): void {
    this.machine.defer(() => this.#candidate.send({ type: "step-down", cooldownMs }));
  }

  /** The child crashes. */
  endWork(): void {
    if (this.#child) this.#die({ code: 1, signal: undefined });
  }

  /** The supervisor is killed. Its watchdog kills the child. Both at once is a limit that the documents name. */
  override crash(): void {
    this.exit();
    if (this.#child) this.#dieAfterKill();
  }

  override freeze(): void {
    // A supervisor that is frozen while its watchdog hangs is a limit that the documents name.
    if (!this.#watchdog.isProtecting) this.#watchdog.heal();
    this.machine.freeze();
  }

  override thaw(): void {
    this.machine.thaw();
  }

  protected mayWork(): boolean {
    return this.#child !== undefined && isBefore(this.machine.clock.now(), this.#candidate.validUntil());
  }

  #onNotice(notice: Notice): void {
    const now = this.machine.clock.now();
    const deadline = this.#candidate.validUntil() ?? now;
    switch (notice.type) {
      case "term-started":
        this.checker.termStarted(this, notice.token);
        this.#supervisor.send({ type: "term-began", token: notice.token, deadline });
        return;
      case "renewed":
        this.#watchdog.mayFail();
        this.#supervisor.send({ type: "renewed", deadline });
        return;
      case "term-ending":
        this.#supervisor.send({ type: "term-ending" });
        return;
      case "term-lost":
        this.#supervisor.send({ type: "term-lost", deadline });
        return;
      case "term-expired":
        this.#supervisor.send({ type: "term-lost", deadline: now });
        return;
      case "term-ended":
        this.coolDown();
        return;
      case "stopped":
      case "refused":
        this.exit();
    }
  }

  #perform(effect: Effect): void {
    const { random } = this.machine;
    if (this.#watchdog.perform(effect)) return;
    switch (effect.type) {
      case "prepare":
        this.after(random.between(0, 20), () => this.#supervisor.send({ type: "prepared", id: effect.id }));
        return;
      case "start-child":
        this.#startChild(effect.id);
        return;
      case "stop-child":
        this.#stopChild(effect.timeoutMs);
        return;
      case "close-gates": {
        const { id } = effect;
        this.after(random.between(0, 1_000), () => this.#supervisor.send({ type: "gates-closed", id }));
        return;
      }
      case "step-down":
        this.#candidate.send({ type: "step-down", cooldownMs: effect.cooldownMs });
        return;
      case "finish-term":
        this.#candidate.send({ type: "work-stopped", cooldownMs });
        return;
      case "end-election":
        this.#candidate.send({ type: "stop" });
        return;
    }
  }

  #startChild(id: number): void {
    const { random } = this.machine;
    this.#pids += 1;
    const child = { pid: this.#pids, killAtMs: Number.POSITIVE_INFINITY };
    this.#child = child;
    this.checker.workStarted(this);
    this.after(random.between(0, 20), () => this.#supervisor.send({ type: "child-started", pid: child.pid }));
    this.after(random.between(20, 3_000), () => this.#supervisor.send({ type: "child-ready", id }));
  }

  /** The child obeys after some time, or never. The process manager kills it at its time, if it runs then. */
  #stopChild(timeoutMs: number): void {
    const { random, clock } = this.machine;
    const child = this.#child;
    if (!child) return;
    const isFirst = !Number.isFinite(child.killAtMs);
    const killAtMs = clock.now().monoMs + timeoutMs;
    if (killAtMs >= child.killAtMs) return;
    child.killAtMs = killAtMs;
    clock.at(killAtMs, () => {
      if (this.#child !== child) return;
      this.#supervisor.send({ type: "child-killing" });
      this.#dieAfterKill();
    });
    if (!isFirst || timeoutMs === 0) return;
    const obeysAfterMs = random.chance(0.3) ? 0 : random.between(0, 40_000);
    this.scheduler.after(obeysAfterMs, () => {
      if (this.#child === child) this.#die({ code: 0, signal: undefined });
    });
  }

  #dieAfterKill(): void {
    const child = this.#child;
    this.scheduler.after(this.machine.random.between(0, killTakesMs), () => {
      if (child && this.#child === child) this.#die({ code: undefined, signal: "SIGKILL" });
    });
  }

  #die(exit: { readonly code: number | undefined; readonly signal: string | undefined }): void {
    this.#child = undefined;
    this.checker.workStopped(this);
    this.after(0, () => this.#supervisor.send({ type: "child-exited", exit }));
    const killed = exit.signal !== undefined;
    this.after(5, () => this.#supervisor.send({ type: "child-gone", exit, killed }));
  }
}
