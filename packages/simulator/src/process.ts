/** What the simulation needs from a process, whatever runs in it. */
import type { Checker } from "./checker.ts";
import type { Machine } from "./machine.ts";
import type { Scheduler } from "./scheduler.ts";
import type { CheckedCandidate } from "./violation.ts";
import type { Witness } from "./witness.ts";

export interface CandidateProcess extends CheckedCandidate {
  readonly machine: Machine;
  readonly isLeading: boolean;
  /** Hears everything that this candidate hears. @default none, for client-go */
  readonly witness?: Witness;
  /** The longest lease that this candidate has been shown or has itself. */
  readonly longestLeaseMs: number;
  /** The highest revision of the lock that this candidate knows. Only by this can it notice that the store went back. */
  readonly highestRevision: bigint;
  /** Whether this candidate has seen this lock. Only then can it notice its deletion. */
  knows(uid: string): boolean;
  start(): void;
  shutdown(): void;
  stepDown(): void;
  /** The work ends by itself. */
  endWork(): void;
  /** The worker thread of the election dies, if it has one. */
  killThread?(): void;
  crash(): void;
  freeze(): void;
  thaw(): void;
}

export interface ProcessParts {
  readonly id: string;
  readonly machine: Machine;
  readonly scheduler: Scheduler;
  readonly checker: Checker;
}

/** How long a SIGKILL takes at most. It is less than the margin of the timings. */
export const killTakesMs = 50;
/** How long a candidate does not campaign after a term. */
export const cooldownMs = 2_000;

/** What happens to the process of a tenure candidate from outside, and what the checker is told of it. */
export abstract class TenureCandidate {
  readonly id: string;
  readonly kind = "tenure";
  readonly machine: Machine;
  protected readonly scheduler: Scheduler;
  protected readonly checker: Checker;
  protected isStopping = false;
  abstract readonly leaseMs: number;
  readonly objects: readonly number[] = [0];

  constructor({ id, machine, scheduler, checker }: ProcessParts) {
    this.id = id;
    this.machine = machine;
    this.scheduler = scheduler;
    this.checker = checker;
  }

  /** Whether its work may run now. Work asks this before it continues after a freeze. */
  protected abstract mayWork(): boolean;

  crash(): void {
    this.checker.workStopped(this);
    this.exit();
  }

  freeze(): void {
    this.machine.freeze();
    this.checker.workStopped(this);
  }

  thaw(): void {
    if (this.machine.isDead) return;
    this.machine.defer(() => {
      if (this.mayWork()) this.checker.workStarted(this);
    });
    this.machine.thaw();
  }

  protected exit(): void {
    this.checker.unready(this.id);
    this.machine.kill();
  }

  protected coolDown(): void {
    this.checker.unready(this.id);
    this.scheduler.after(cooldownMs, () => {
      if (!this.machine.isDead && !this.isStopping) this.checker.ready(this.id);
    });
  }

  protected after(delayMs: number, callback: () => void): void {
    this.scheduler.after(delayMs, () => this.machine.defer(callback));
  }
}
