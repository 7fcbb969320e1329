/** A tenure candidate. Its work stops some time after it is told to, and is killed at the hard deadline. */
import { type Config, isBefore, type LeaderRecord } from "@tenure/core";
import type { Lock } from "@tenure/election";
import { Candidate, formatTransfer, type Notice, orderAnnotations } from "@tenure/election/internal";
import {
  type CandidateProcess,
  cooldownMs,
  killTakesMs,
  type ProcessParts,
  TenureCandidate,
} from "./process.ts";
import type { StoredLock } from "./server.ts";
import type { Trace } from "./trace/trace.ts";
import { Witness } from "./witness.ts";

export class TenureProcess extends TenureCandidate implements CandidateProcess {
  readonly leaseMs: number;
  readonly #candidate: Candidate;
  readonly witness = new Witness();
  #term = 0;
  #hasWork = false;

  constructor(config: Config, parts: ProcessParts, trace?: Trace) {
    super(parts);
    const { id, machine } = parts;
    this.leaseMs = config.timings.leaseDurationMs;
    const lock: Lock = {
      description: "lease sim/sim",
      read: () => machine.link.send(undefined),
      write: (record, view) => {
        const over = view as StoredLock | undefined;
        // As the real locks do, it sends back the whole object that it read.
        const annotations = over?.object.annotations ?? {};
        return machine.link.send({ writer: id, record, over, annotations });
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
      config,
      lock: this.witness.of(trace ? trace.lock(id, lock) : lock),
      clock: machine.clock,
      random: machine.random.next,
      onNotice: (notice) => this.#onNotice(notice),
      onStep: () => trace?.stepped(id, config, this.#candidate.state, machine.clock),
    });
  }

  get isLeading(): boolean {
    return this.#hasWork && this.machine.isRunning;
  }

  knows(uid: string): boolean {
    const { lock } = this.#candidate.state;
    return lock.kind === "present" && lock.view.uid === uid;
  }

  knewWhenSending(record: LeaderRecord, uid: string): boolean {
    return this.witness.knewWhenSending(record, uid);
  }

  get highestRevision(): bigint {
    const { lock, revision } = this.#candidate.state;
    return lock.kind === "present" ? revision : -1n;
  }

  get longestLeaseMs(): number {
    return Math.max(this.leaseMs, this.witness.longestLeaseMs);
  }

  start(): void {
    this.checker.started(this);
    this.#candidate.send({ type: "start" });
  }

  shutdown(): void {
    this.machine.defer(() => {
      this.isStopping = true;
      this.checker.unready(this.id);
      this.#candidate.send({ type: "stop" });
    });
  }

  stepDown(): void {
    this.machine.defer(() => this.#candidate.send({ type: "step-down", cooldownMs }));
  }

  endWork(): void {
    this.machine.defer(() => this.#stopWork());
  }

  protected mayWork(): boolean {
    return this.#hasWork && isBefore(this.machine.clock.now(), this.#candidate.validUntil());
  }

  #onNotice(notice: Notice): void {
    switch (notice.type) {
      case "term-started":
        this.#term += 1;
        this.#hasWork = true;
        this.checker.termStarted(this, notice.token);
        this.checker.workStarted(this);
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
        this.coolDown();
        return;
      case "stopped":
      case "refused":
        this.exit();
    }
  }

  #stopWorkAfter(delayMs: number): void {
    const term = this.#term;
    this.after(delayMs, () => {
      if (term === this.#term) this.#stopWork();
    });
  }

  #stopWork(): void {
    if (!this.#hasWork) return;
    this.#hasWork = false;
    this.checker.workStopped(this);
    this.#candidate.send({ type: "work-stopped", cooldownMs });
  }
}
