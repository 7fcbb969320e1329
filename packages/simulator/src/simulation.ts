/** Runs one plan: starts the machines, injects the faults, ends them all, and collects the violations. */
import { type Config, resolveTimings, type Timings } from "@tenure/core";
import { Checker, type Violation } from "./checker.ts";
import { ClientGoProcess } from "./client-go-process.ts";
import type { ErrorKind } from "./link.ts";
import { Machine } from "./machine.ts";
import type { Fault, Plan, ProcessPlan } from "./plan.ts";
import { nextTurn } from "./platform.ts";
import { Random } from "./random.ts";
import { Scheduler } from "./scheduler.ts";
import { Server, type StoredLock } from "./server.ts";
import { TenureProcess } from "./tenure-process.ts";

type Process = TenureProcess | ClientGoProcess;

export interface Outcome {
  readonly violations: readonly Violation[];
  readonly simulatedMs: number;
  readonly terms: { readonly tenure: number; readonly clientGo: number };
  /** How often two processes worked at once in a way that only a client-go candidate can cause. */
  readonly clientGoOverlaps: number;
  readonly log: readonly string[];
}

export function simulate(plan: Plan): Promise<Outcome> {
  return new Simulation(plan).run();
}

class Simulation {
  readonly #plan: Plan;
  readonly #random: Random;
  readonly #timings: readonly Timings[];
  readonly #longestLeaseMs: number;
  readonly #scheduler = new Scheduler();
  readonly #checker: Checker;
  readonly #server: Server;
  readonly #slots: (Process | undefined)[];
  readonly #duplicates: Process[] = [];
  readonly #active = new Set<() => void>();
  readonly #log: string[] = [];
  #starts = 0;

  constructor(plan: Plan) {
    this.#plan = plan;
    this.#random = new Random(plan.seed ^ 0x5bd1e995);
    this.#timings = plan.processes.map(({ timings }) => resolveTimings(timings));
    this.#longestLeaseMs = Math.max(...this.#timings.map(({ leaseDurationMs }) => leaseDurationMs));
    const now = () => this.#scheduler.nowMs;
    this.#checker = new Checker(now, this.#longestLeaseMs);
    this.#server = new Server(now, (before, after) => this.#committed(before, after));
    this.#slots = plan.processes.map(() => undefined);
  }

  async run(): Promise<Outcome> {
    const { processes, faults, calmAfterMs } = this.#plan;
    processes.forEach((process, slot) => {
      this.#scheduler.at(process.startMs, () => this.#start(slot, `p${slot}`));
    });
    for (const fault of faults) this.#scheduler.at(fault.atMs, () => this.#inject(fault));
    this.#scheduler.at(calmAfterMs, () => this.#endFaults());
    // Time for the lease of a frozen leader, a vanished holder, an absent lock, and the longest drain.
    const endMs = calmAfterMs + 3 * this.#longestLeaseMs + 60_000;
    await this.#scheduler.run(endMs, this.#settle());
    const all = [...this.#slots, ...this.#duplicates];
    this.#checker.finished(all.some((process) => process?.isLeading));
    for (const violation of this.#checker.violations)
      this.#note(`VIOLATION ${violation.rule}: ${violation.message}`, violation.atMs);
    return {
      violations: this.#checker.violations,
      simulatedMs: endMs,
      terms: this.#checker.terms,
      clientGoOverlaps: this.#checker.clientGoOverlaps,
      log: this.#log,
    };
  }

  /** A tenure process needs one turn of the promises after an action. The client-go model awaits in many places. */
  #settle(): () => Promise<void> {
    const hasClientGo = this.#plan.processes.some((process) => process.kind === "client-go");
    return hasClientGo ? nextTurn : () => Promise.resolve();
  }

  #start(slot: number, identity: string): Process {
    const plan = this.#plan.processes[slot] as ProcessPlan;
    const id = `${identity}#${this.#starts++}`;
    const machine = new Machine(this.#scheduler, this.#server, plan, this.#random.fork());
    const timings = this.#timings[slot] as Timings;
    const process =
      plan.kind === "tenure"
        ? this.#newTenureProcess(id, identity, timings, machine)
        : this.#newClientGoProcess(id, identity, timings, machine, slot);
    this.#slots[slot] = process;
    this.#note(`${id} starts`);
    process.start();
    return process;
  }

  #newTenureProcess(id: string, identity: string, timings: Timings, machine: Machine): TenureProcess {
    const { waitWhenAbsent } = this.#plan;
    const config: Config = {
      identity,
      timings,
      waitWhenAbsent,
      failWhenDenied: false,
      cooldownMs: timings.retryPeriodMs,
    };
    return new TenureProcess(id, config, machine, this.#scheduler, this.#checker);
  }

  #newClientGoProcess(
    id: string,
    identity: string,
    timings: Timings,
    machine: Machine,
    slot: number,
  ): ClientGoProcess {
    const restart = () =>
      this.#scheduler.after(3_000, () => this.#restartIfDead(slot, `p${slot}-${this.#starts}`));
    return new ClientGoProcess(id, identity, timings, machine, this.#checker, restart);
  }

  #inject(fault: Fault): void {
    const process = this.#slots[fault.target];
    if (!process) return;
    this.#note(`fault ${fault.kind} on ${process.id} for ${Math.round(fault.forMs)} ms`);
    this.#checker.faultChanged();
    const { link } = process.machine;
    const until = (end: () => void) => {
      const endNow = () => {
        if (!this.#active.delete(endNow)) return;
        this.#note(`end of fault ${fault.kind} on ${process.id}`);
        this.#checker.faultChanged();
        end();
        link.changed();
      };
      this.#active.add(endNow);
      this.#scheduler.after(fault.forMs, endNow);
    };
    switch (fault.kind) {
      case "crash":
      case "crash-same-identity": {
        process.crash();
        const slot = fault.target;
        const identity = fault.kind === "crash" ? `p${slot}-${this.#starts}` : identityOf(process);
        until(() => this.#restartIfDead(slot, identity));
        return;
      }
      case "freeze":
        process.freeze();
        until(() => process.thaw());
        return;
      case "suspend": {
        // A frozen or dead machine cannot be suspended.
        if (!process.machine.isRunning) return;
        const sinceMs = this.#scheduler.nowMs;
        process.freeze();
        until(() => {
          process.machine.clock.wasSuspended(this.#scheduler.nowMs - sinceMs);
          process.thaw();
        });
        return;
      }
      case "partition":
      case "cut-requests":
      case "cut-answers":
        link.requestsCut ||= fault.kind !== "cut-answers";
        link.answersCut ||= fault.kind !== "cut-requests";
        until(() => {
          link.requestsCut = false;
          link.answersCut = false;
        });
        break;
      case "slow":
        link.slowMs = fault.amount * 4_000;
        until(() => {
          link.slowMs = 0;
        });
        break;
      case "lose-answers":
        link.loseAnswers = fault.amount;
        until(() => {
          link.loseAnswers = 0;
        });
        break;
      case "duplicate-requests":
        link.duplicateRequests = fault.amount;
        until(() => {
          link.duplicateRequests = 0;
        });
        break;
      case "watch-stall":
        link.watchStalled = true;
        until(() => {
          link.watchStalled = false;
        });
        break;
      case "watch-gap":
        link.watchDropsEvents = true;
        until(() => {
          link.watchDropsEvents = false;
        });
        break;
      case "server-down":
        this.#server.isDown = true;
        this.#linksChanged();
        until(() => {
          this.#server.isDown = false;
          this.#linksChanged();
        });
        return;
      case "conflict":
      case "throttled":
      case "internal":
      case "unavailable":
        link.errors = { kind: fault.kind satisfies ErrorKind, probability: fault.amount };
        until(() => {
          link.errors = undefined;
        });
        break;
      case "delete":
        this.#delete();
        return;
      case "empty-by-hand":
        if (this.#server.lock) this.#checker.emptied(this.#server.lock);
        this.#server.emptyByHand();
        return;
      case "annotate":
        this.#server.annotate();
        return;
      case "step-down":
        process.stepDown();
        return;
      case "work-ends":
        process.endWork();
        return;
      case "shutdown":
        process.shutdown();
        until(() => this.#restartIfDead(fault.target, identityOf(process)));
        return;
      case "set-clock":
        // If the wall clock were set back during a suspension, no clock would show the suspension. Only fencing helps then.
        if (process.machine.isRunning) process.machine.clock.setWall((fault.amount - 0.5) * 120_000);
        return;
      case "duplicate-identity": {
        const duplicate = this.#start(fault.target, identityOf(process));
        this.#slots[fault.target] = process;
        this.#duplicates.push(duplicate);
        until(() => duplicate.crash());
        return;
      }
    }
    link.changed();
  }

  #delete(): void {
    const { lock } = this.#server;
    if (!lock) return;
    const knownTo = new Map<string, number>();
    for (const process of [...this.#slots, ...this.#duplicates]) {
      if (process?.knows(lock.uid)) knownTo.set(process.id, process.longestLeaseMs);
    }
    this.#checker.deleted(lock, knownTo);
    this.#server.delete();
  }

  #restartIfDead(slot: number, identity: string): void {
    if (this.#slots[slot]?.machine.isDead) this.#start(slot, identity);
  }

  #linksChanged(): void {
    for (const process of [...this.#slots, ...this.#duplicates]) process?.machine.link.changed();
  }

  /** Ends all faults and restarts all dead processes. */
  #endFaults(): void {
    this.#note("all faults end");
    for (const end of this.#active) end();
    this.#slots.forEach((_, slot) => {
      this.#restartIfDead(slot, `p${slot}-${this.#starts}`);
    });
    this.#checker.faultChanged();
  }

  #committed(before: StoredLock | undefined, after: StoredLock): void {
    const isRenewal =
      before?.writer === after.writer && before?.record.holderIdentity === after.record.holderIdentity;
    if (!isRenewal)
      this.#note(
        `lock ${after.version}: held by ${after.record.holderIdentity || "nobody"}, written by ${after.writer ?? "a person"}`,
      );
    this.#checker.committed(before, after);
  }

  #note(text: string, atMs = this.#scheduler.nowMs): void {
    this.#log.push(`${(atMs / 1_000).toFixed(3).padStart(9)}s  ${text}`);
  }
}

function identityOf(process: Process): string {
  return process.id.slice(0, process.id.indexOf("#"));
}
