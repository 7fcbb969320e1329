/** A candidate of ours with work that stops when it is told to, in its own time, and is killed at the hard deadline. */
import { type Config, isBefore } from "@tenure/core";
import type { Lock } from "@tenure/election";
import { Candidate, type Notice } from "@tenure/election/internal";
import type { Machine } from "./machine.ts";
import type { Scheduler } from "./scheduler.ts";
import type { Witness, Worker } from "./witness.ts";

/** How long a SIGKILL takes to show; the margin of the timings is more. */
const killTakesMs = 50;
const cooldownMs = 2_000;

export class TenureProcess implements Worker {
  readonly id: string;
  readonly kind = "tenure";
  readonly machine: Machine;
  readonly #candidate: Candidate;
  readonly #scheduler: Scheduler;
  readonly #witness: Witness;
  #term = 0;
  #hasWork = false;
  #isLeaving = false;

  constructor(id: string, config: Config, machine: Machine, scheduler: Scheduler, witness: Witness) {
    this.id = id;
    this.machine = machine;
    this.#scheduler = scheduler;
    this.#witness = witness;
    const lock: Lock = {
      description: "lease sim/sim",
      read: () => machine.link.send(undefined),
      write: (record, over) => machine.link.send({ writer: id, record, over }),
      watch: (observer, signal) => machine.link.watch(observer, signal),
    };
    this.#candidate = new Candidate({
      config,
      lock,
      clock: machine.clock,
      random: machine.random.next,
      onNotice: (notice) => this.#heard(notice),
    });
  }

  get isLeading(): boolean {
    return this.#hasWork && this.machine.isRunning;
  }

  /** Whether it knows that this lock exists; only then can it know of its deletion. */
  knows(uid: string): boolean {
    const { lock } = this.#candidate.state;
    return lock.kind === "present" && lock.view.uid === uid;
  }

  start(): void {
    this.#witness.started(this);
    this.#candidate.send({ type: "start" });
  }

  shutdown(): void {
    this.machine.defer(() => {
      this.#isLeaving = true;
      this.#witness.unready(this.id);
      this.#candidate.send({ type: "stop" });
    });
  }

  stepDown(): void {
    this.machine.defer(() => this.#candidate.send({ type: "step-down", cooldownMs }));
  }

  /** The work returns by itself. */
  endWork(): void {
    this.machine.defer(() => this.#stopWork());
  }

  crash(): void {
    this.#witness.workStopped(this);
    this.#witness.unready(this.id);
    this.machine.kill();
  }

  freeze(): void {
    this.machine.freeze();
    this.#witness.workStopped(this);
  }

  thaw(): void {
    if (this.machine.isDead) return;
    // Work asks whether it may before it does anything; what was frozen finds out here.
    this.machine.defer(() => {
      if (this.#hasWork && isBefore(this.machine.clock.now(), this.#candidate.validUntil()))
        this.#witness.workStarted(this);
    });
    this.machine.thaw();
  }

  #heard(notice: Notice): void {
    switch (notice.type) {
      case "term-started":
        this.#term += 1;
        this.#hasWork = true;
        this.#witness.termStarted(this, notice.token);
        this.#witness.workStarted(this);
        return;
      case "term-ending":
        this.#stopWorkAfter(this.machine.random.between(0, 25_000));
        return;
      case "term-lost":
        this.#stopWorkAfter(this.machine.random.chance(0.3) ? 0 : this.machine.random.between(0, 40_000));
        return;
      case "overrun":
        this.#stopWorkAfter(this.machine.random.between(0, killTakesMs));
        return;
      case "term-ended":
        this.#witness.unready(this.id);
        this.#scheduler.after(cooldownMs, () => {
          if (!this.machine.isDead && !this.#isLeaving) this.#witness.ready(this.id);
        });
        return;
      case "stopped":
      case "refused":
        this.#witness.unready(this.id);
        this.machine.kill();
    }
  }

  #stopWorkAfter(delayMs: number): void {
    const term = this.#term;
    this.#scheduler.after(delayMs, () =>
      this.machine.defer(() => {
        if (term === this.#term) this.#stopWork();
      }),
    );
  }

  #stopWork(): void {
    if (!this.#hasWork) return;
    this.#hasWork = false;
    this.#witness.workStopped(this);
    this.#candidate.send({ type: "work-stopped", cooldownMs });
  }
}
