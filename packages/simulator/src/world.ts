/** Plays one plan: builds the machines, lets the faults strike, heals everything, and asks the witness. */
import { type Config, resolveTimings, type Timings } from "@tenure/core";
import { ClientGoProcess } from "./client-go-process.ts";
import type { ErrorKind } from "./link.ts";
import { Machine } from "./machine.ts";
import type { Fault, Plan, ProcessPlan } from "./plan.ts";
import { Random } from "./random.ts";
import { Scheduler } from "./scheduler.ts";
import { Server, type StoredLock } from "./server.ts";
import { TenureProcess } from "./tenure-process.ts";
import { type Violation, Witness } from "./witness.ts";

type Process = TenureProcess | ClientGoProcess;

export interface Outcome {
  readonly violations: readonly Violation[];
  readonly simulatedMs: number;
  readonly terms: { readonly tenure: number; readonly clientGo: number };
  /** Overlaps that only a client-go candidate can cause. */
  readonly apart: number;
  readonly log: readonly string[];
}

export function play(plan: Plan): Promise<Outcome> {
  return new World(plan).play();
}

class World {
  readonly #plan: Plan;
  readonly #random: Random;
  readonly #timings: Timings;
  readonly #scheduler = new Scheduler();
  readonly #witness: Witness;
  readonly #server: Server;
  readonly #slots: (Process | undefined)[];
  readonly #twins: Process[] = [];
  readonly #active = new Set<() => void>();
  readonly #log: string[] = [];
  #incarnations = 0;

  constructor(plan: Plan) {
    this.#plan = plan;
    this.#random = new Random(plan.seed ^ 0x5bd1e995);
    this.#timings = resolveTimings(plan.timings);
    const now = () => this.#scheduler.nowMs;
    this.#witness = new Witness(now, this.#timings.leaseDurationMs);
    this.#server = new Server(now, (before, after) => this.#committed(before, after));
    this.#slots = plan.processes.map(() => undefined);
  }

  async play(): Promise<Outcome> {
    const { processes, faults, calmAfterMs } = this.#plan;
    processes.forEach((process, slot) => {
      this.#scheduler.at(process.startMs, () => this.#spawn(slot, `p${slot}`));
    });
    for (const fault of faults) this.#scheduler.at(fault.atMs, () => this.#strike(fault));
    this.#scheduler.at(calmAfterMs, () => this.#healAll());
    // A frozen leader's lease, the wait for a vanished one, the wait for an absent lock, and the longest drain.
    const endMs = calmAfterMs + 3 * this.#timings.leaseDurationMs + 60_000;
    await this.#scheduler.run(endMs, this.#settle());
    const all = [...this.#slots, ...this.#twins];
    this.#witness.finished(all.some((process) => process?.isLeading));
    for (const violation of this.#witness.violations)
      this.#note(`VIOLATION ${violation.rule}: ${violation.message}`, violation.atMs);
    return {
      violations: this.#witness.violations,
      simulatedMs: endMs,
      terms: this.#witness.terms,
      apart: this.#witness.apart,
      log: this.#log,
    };
  }

  /** Our candidates need one turn of the promises after an event; the client-go model awaits in many places. */
  #settle(): () => Promise<void> {
    const hasClientGo = this.#plan.processes.some((process) => process.kind === "client-go");
    return hasClientGo ? () => new Promise((resolve) => setImmediate(resolve)) : () => Promise.resolve();
  }

  #spawn(slot: number, identity: string): Process {
    const plan = this.#plan.processes[slot] as ProcessPlan;
    const id = `${identity}#${this.#incarnations++}`;
    const machine = new Machine(this.#scheduler, this.#server, plan, this.#random.fork());
    const process =
      plan.kind === "tenure"
        ? this.#tenure(id, identity, machine)
        : this.#clientGo(id, identity, machine, slot);
    this.#slots[slot] = process;
    this.#note(`${id} starts`);
    process.start();
    return process;
  }

  #tenure(id: string, identity: string, machine: Machine): TenureProcess {
    const { waitWhenAbsent } = this.#plan;
    const config: Config = {
      identity,
      timings: this.#timings,
      waitWhenAbsent,
      failWhenDenied: false,
      cooldownMs: this.#timings.retryPeriodMs,
    };
    return new TenureProcess(id, config, machine, this.#scheduler, this.#witness);
  }

  #clientGo(id: string, identity: string, machine: Machine, slot: number): ClientGoProcess {
    const respawn = () =>
      this.#scheduler.after(3_000, () => this.#respawnIfDead(slot, `p${slot}-${this.#incarnations}`));
    return new ClientGoProcess(id, identity, this.#timings, machine, this.#witness, respawn);
  }

  #strike(fault: Fault): void {
    const process = this.#slots[fault.target];
    if (!process) return;
    this.#note(`${fault.kind} ${process.id} for ${Math.round(fault.forMs)} ms`);
    this.#witness.disturbed();
    const { link } = process.machine;
    const until = (end: () => void) => {
      const endNow = () => {
        if (!this.#active.delete(endNow)) return;
        this.#note(`end of ${fault.kind} ${process.id}`);
        this.#witness.disturbed();
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
        const identity = fault.kind === "crash" ? `p${slot}-${this.#incarnations}` : identityOf(process);
        until(() => this.#respawnIfDead(slot, identity));
        return;
      }
      case "freeze":
        process.freeze();
        until(() => process.thaw());
        return;
      case "suspend": {
        // A machine that stands still already cannot be suspended.
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
      case "duplicate":
        link.duplicate = fault.amount;
        until(() => {
          link.duplicate = 0;
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
        if (this.#server.lock) this.#witness.emptied(this.#server.lock);
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
        until(() => this.#respawnIfDead(fault.target, identityOf(process)));
        return;
      case "set-clock":
        // Set back while suspended, no clock of the machine would show the suspension: fencing is for that.
        if (process.machine.isRunning) process.machine.clock.setWall((fault.amount - 0.5) * 120_000);
        return;
      case "twin": {
        const twin = this.#spawn(fault.target, identityOf(process));
        this.#slots[fault.target] = process;
        this.#twins.push(twin);
        until(() => twin.crash());
        return;
      }
    }
    link.changed();
  }

  #delete(): void {
    const { lock } = this.#server;
    if (!lock) return;
    const all = [...this.#slots, ...this.#twins];
    const knowing = all.filter((process) => process?.knows(lock.uid)).map((process) => process?.id);
    this.#witness.deleted(lock, new Set(knowing));
    this.#server.delete();
  }

  #respawnIfDead(slot: number, identity: string): void {
    if (this.#slots[slot]?.machine.isDead) this.#spawn(slot, identity);
  }

  #linksChanged(): void {
    for (const process of [...this.#slots, ...this.#twins]) process?.machine.link.changed();
  }

  /** From here on nothing is broken any more, and everything that is dead has been started again. */
  #healAll(): void {
    this.#note("calm");
    for (const end of this.#active) end();
    this.#slots.forEach((_, slot) => {
      this.#respawnIfDead(slot, `p${slot}-${this.#incarnations}`);
    });
    this.#witness.disturbed();
  }

  #committed(before: StoredLock | undefined, after: StoredLock): void {
    const isRenewal =
      before?.writer === after.writer && before?.record.holderIdentity === after.record.holderIdentity;
    if (!isRenewal)
      this.#note(
        `lock ${after.version}: ${after.record.holderIdentity || "(nobody)"} by ${after.writer ?? "a person"}`,
      );
    this.#witness.committed(before, after);
  }

  #note(text: string, atMs = this.#scheduler.nowMs): void {
    this.#log.push(`${(atMs / 1_000).toFixed(3).padStart(9)}s  ${text}`);
  }
}

function identityOf(process: Process): string {
  return process.id.slice(0, process.id.indexOf("#"));
}
