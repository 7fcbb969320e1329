/** Runs one plan: starts the machines, injects the faults, ends them all, and collects the violations. */
import { type Config, resolveTimings, type Timings } from "@tenure/core";
import { Checker, type Violation } from "./checker.ts";
import { ClientGoProcess } from "./client-go-process.ts";
import { ElectionProcess } from "./election-process.ts";
import { Faults, type World } from "./faults.ts";
import { HttpApi } from "./http/api.ts";
import { Machine } from "./machine.ts";
import type { Plan, ProcessPlan } from "./plan.ts";
import { nextTurn } from "./platform.ts";
import type { CandidateProcess } from "./process.ts";
import { Random } from "./random.ts";
import { Scheduler } from "./scheduler.ts";
import { Server, type StoredLock } from "./server.ts";
import { TenureProcess } from "./tenure-process.ts";
import { type Trace, TracedChecker } from "./trace/trace.ts";

export interface Outcome {
  readonly violations: readonly Violation[];
  readonly simulatedMs: number;
  readonly terms: { readonly tenure: number; readonly clientGo: number };
  /** How often two processes worked at once in a way that only a client-go candidate can cause. */
  readonly clientGoOverlaps: number;
  readonly log: readonly string[];
}

/** @param trace records the steps, of a plan without `lockKind` */
export function simulate(plan: Plan, trace?: Trace): Promise<Outcome> {
  return new Simulation(plan, trace).run();
}

class Simulation implements World {
  readonly #plan: Plan;
  readonly #random: Random;
  readonly #timings: readonly Timings[];
  readonly #longestLeaseMs: number;
  readonly scheduler = new Scheduler();
  readonly checker: Checker;
  readonly server: Server;
  readonly slots: (CandidateProcess | undefined)[];
  readonly #duplicates: CandidateProcess[] = [];
  readonly #faults = new Faults(this);
  readonly #log: string[] = [];
  readonly #api: HttpApi | undefined;
  readonly #trace: Trace | undefined;
  #starts = 0;

  constructor(plan: Plan, trace?: Trace) {
    this.#plan = plan;
    this.#trace = trace;
    this.#random = new Random(plan.seed ^ 0x5bd1e995);
    this.#timings = plan.processes.map(({ timings }) => resolveTimings(timings));
    this.#longestLeaseMs = Math.max(...this.#timings.map(({ leaseDurationMs }) => leaseDurationMs));
    const now = () => this.scheduler.nowMs;
    this.checker = trace
      ? new TracedChecker(trace, now, this.#longestLeaseMs)
      : new Checker(now, this.#longestLeaseMs);
    this.server = new Server(now, {
      committed: (before, after) => this.#committed(before, after),
      versionReused: () => this.checker.versionReused(),
    });
    trace?.attach(now, this.server);
    this.#api = plan.lockKind && new HttpApi(this.server, plan.lockKind);
    this.slots = plan.processes.map(() => undefined);
  }

  async run(): Promise<Outcome> {
    const { processes, faults, calmAfterMs } = this.#plan;
    processes.forEach((process, slot) => {
      this.scheduler.at(process.startMs, () => this.#start(slot, `p${slot}`));
    });
    for (const fault of faults) this.scheduler.at(fault.atMs, () => this.#faults.inject(fault));
    this.scheduler.at(calmAfterMs, () => this.#endFaults());
    // Time for the lease of a frozen leader, a vanished holder, an absent lock, and the longest drain.
    const endMs = calmAfterMs + 3 * this.#longestLeaseMs + 60_000;
    await this.scheduler.run(endMs, this.#settle());
    this.checker.finished(this.processes().some((process) => process.isLeading));
    for (const violation of this.checker.violations)
      this.note(`VIOLATION ${violation.rule}: ${violation.message}`, violation.atMs);
    return {
      violations: this.checker.violations,
      simulatedMs: endMs,
      terms: this.checker.terms,
      clientGoOverlaps: this.checker.clientGoOverlaps,
      log: this.#log,
    };
  }

  /** A tenure process needs one turn of the promises after an action. The client-go model awaits in many places. */
  #settle(): () => Promise<void> {
    const hasClientGo = this.#plan.processes.some((process) => process.kind === "client-go");
    return hasClientGo || this.#api ? nextTurn : () => Promise.resolve();
  }

  #start(slot: number, identity: string): CandidateProcess {
    const plan = this.#plan.processes[slot] as ProcessPlan;
    const id = `${identity}#${this.#starts++}`;
    const machine = new Machine(this.scheduler, this.server, plan, this.#random.fork());
    const timings = this.#timings[slot] as Timings;
    const process =
      plan.kind === "tenure"
        ? (this.#newElectionProcess(id, identity, plan, machine) ??
          this.#newTenureProcess(id, identity, timings, machine))
        : this.#newClientGoProcess(id, identity, timings, machine, slot);
    this.slots[slot] = process;
    this.note(`${id} starts`);
    process.start();
    return process;
  }

  #newElectionProcess(
    id: string,
    identity: string,
    { timings }: ProcessPlan,
    machine: Machine,
  ): ElectionProcess | undefined {
    if (!this.#api) return undefined;
    const { waitWhenAbsent, failWhenDenied } = this.#plan;
    const options = { ...timings, identity, waitWhenAbsent, failWhenDenied };
    return new ElectionProcess(id, options, machine, this.scheduler, this.checker, this.#api);
  }

  #newTenureProcess(id: string, identity: string, timings: Timings, machine: Machine): TenureProcess {
    const { waitWhenAbsent, failWhenDenied } = this.#plan;
    const config: Config = {
      identity,
      timings,
      waitWhenAbsent,
      failWhenDenied,
      cooldownMs: timings.retryPeriodMs,
      // Shorter than the longest time that simulated work takes to stop.
      drainTimeoutMs: 15_000,
    };
    return new TenureProcess(id, config, machine, this.scheduler, this.checker, this.#trace);
  }

  #newClientGoProcess(
    id: string,
    identity: string,
    timings: Timings,
    machine: Machine,
    slot: number,
  ): ClientGoProcess {
    const restart = () => this.scheduler.after(3_000, () => this.restartIfDead(slot, this.newIdentity(slot)));
    return new ClientGoProcess(id, identity, timings, machine, this.checker, restart);
  }

  restartIfDead(slot: number, identity: string): void {
    if (this.slots[slot]?.machine.isDead) this.#start(slot, identity);
  }

  newIdentity(slot: number): string {
    return `p${slot}-${this.#starts}`;
  }

  startDuplicate(slot: number, identity: string): CandidateProcess {
    const original = this.slots[slot];
    const duplicate = this.#start(slot, identity);
    this.slots[slot] = original;
    this.#duplicates.push(duplicate);
    return duplicate;
  }

  rotateToken(): void {
    if (this.#api) this.#api.token += 1;
  }

  processes(): CandidateProcess[] {
    return [...this.slots, ...this.#duplicates].filter((process) => process !== undefined);
  }

  /** Ends all faults and restarts all dead processes. */
  #endFaults(): void {
    this.note("all faults end");
    this.#faults.endAll();
    this.slots.forEach((_, slot) => {
      this.restartIfDead(slot, this.newIdentity(slot));
    });
  }

  #committed(before: StoredLock | undefined, after: StoredLock): void {
    const isRenewal =
      before?.writer === after.writer && before?.record.holderIdentity === after.record.holderIdentity;
    if (!isRenewal)
      this.note(
        `lock ${after.version}: held by ${after.record.holderIdentity || "nobody"}, written by ${after.writer ?? "a person"}`,
      );
    this.checker.committed(before, after);
  }

  note(text: string, atMs = this.scheduler.nowMs): void {
    this.#log.push(`${(atMs / 1_000).toFixed(3).padStart(9)}s  ${text}`);
  }
}
