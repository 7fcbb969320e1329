/**
 * A candidate that behaves like client-go's leaderelection package (0.36), including its weaknesses: it compares records
 * by the second, counts its deadline from the acknowledgement, releases before its work has stopped and by its cached
 * record alone, and does not react to another holder until the deadline.
 */
import type { Instant } from "@tenure/base";
import type { Answer, LeaderRecord, Timings } from "@tenure/core";
import type { Checker } from "./checker.ts";
import type { Machine } from "./machine.ts";
import type { CandidateProcess } from "./process.ts";
import type { StoredLock } from "./server.ts";

const jitterFactor = 1.2;

export class ClientGoProcess implements CandidateProcess {
  readonly id: string;
  readonly kind = "client-go";
  readonly highestRevision = -1n;
  readonly machine: Machine;
  readonly #identity: string;
  readonly #timings: Timings;
  readonly #checker: Checker;
  readonly #releaseOnCancel: boolean;
  readonly #onExit: () => void;
  #observed: LeaderRecord | undefined;
  #observedRaw: string | undefined;
  #observedAt: Instant | undefined;
  #cached: StoredLock | undefined;
  #isCancelled = false;
  #hasWork = false;

  constructor(
    id: string,
    identity: string,
    timings: Timings,
    machine: Machine,
    checker: Checker,
    onExit: () => void,
  ) {
    this.id = id;
    this.#identity = identity;
    this.#timings = timings;
    this.machine = machine;
    this.#checker = checker;
    this.#releaseOnCancel = machine.random.chance(0.5);
    this.#onExit = onExit;
  }

  get leaseMs(): number {
    return this.#timings.leaseDurationMs;
  }

  get longestLeaseMs(): number {
    return this.leaseMs;
  }

  get isLeading(): boolean {
    return this.#hasWork && this.machine.isRunning;
  }

  /** client-go does not remember a deleted lock. */
  knows(): boolean {
    return false;
  }

  start(): void {
    this.#checker.started(this);
    void this.#run();
  }

  shutdown(): void {
    this.#isCancelled = true;
  }

  stepDown(): void {
    this.#isCancelled = true;
  }

  endWork(): void {}

  crash(): void {
    this.#checker.workStopped(this);
    this.machine.kill();
  }

  freeze(): void {
    this.machine.freeze();
    this.#checker.workStopped(this);
  }

  thaw(): void {
    this.machine.thaw();
    if (this.isLeading) this.#checker.workStarted(this);
  }

  async #run(): Promise<void> {
    while (!(await this.#tryAcquireOrRenew())) {
      await this.#sleep(this.#timings.retryPeriodMs * (1 + this.machine.random.next() * jitterFactor));
      if (this.#isCancelled) return this.#exit();
    }
    this.#hasWork = true;
    this.#checker.termStarted(this, undefined);
    this.#checker.workStarted(this);
    while (!this.#isCancelled && (await this.#renewOnce())) await this.#sleep(this.#timings.retryPeriodMs);
    if (this.#releaseOnCancel) await this.#release();
    await this.#sleep(this.machine.random.between(0, 200));
    this.#hasWork = false;
    this.#checker.workStopped(this);
    this.#exit();
  }

  #exit(): void {
    this.machine.kill();
    this.#onExit();
  }

  /** Polls until the deadline, which counts from now: one retryPeriod after the last acknowledgement. */
  async #renewOnce(): Promise<boolean> {
    const startedAt = this.machine.clock.now();
    while (!this.#isCancelled) {
      if (await this.#tryAcquireOrRenew()) return true;
      const left = this.#timings.renewDeadlineMs - (this.machine.clock.now().monoMs - startedAt.monoMs);
      if (left <= 0) return false;
      await this.#sleep(Math.min(this.#timings.retryPeriodMs, left));
    }
    return true;
  }

  async #tryAcquireOrRenew(): Promise<boolean> {
    const now = this.machine.clock.now();
    const record = this.#recordAt(now);
    if (this.#isLeader() && this.#isLeaseValid(now) && this.#observed && this.#cached) {
      const { acquireTime, leaseTransitions } = this.#observed;
      if (await this.#update({ ...record, acquireTime, leaseTransitions })) return true;
    }
    const answer = await this.#request(() => this.machine.link.send(undefined));
    if (answer.kind === "absent") {
      const created = await this.#request(() =>
        this.machine.link.send({ writer: this.id, record, over: undefined, annotations: {} }),
      );
      if (created.kind !== "found") return false;
      this.#cached = created.view as StoredLock;
      this.#setObserved(record);
      return true;
    }
    if (answer.kind !== "found") return false;
    this.#cached = answer.view as StoredLock;
    const old = answer.view.record;
    const raw = rawOf(old);
    if (raw !== this.#observedRaw) {
      this.#setObserved(old);
      this.#observedRaw = raw;
    }
    if (old.holderIdentity !== "" && this.#isLeaseValid(now) && !this.#isLeader()) return false;
    return this.#isLeader()
      ? this.#update({ ...record, acquireTime: old.acquireTime, leaseTransitions: old.leaseTransitions })
      : this.#update({ ...record, leaseTransitions: old.leaseTransitions + 1 });
  }

  async #update(record: LeaderRecord): Promise<boolean> {
    const over = this.#cached;
    const annotations = over?.object.annotations ?? {};
    const answer = await this.#request(() =>
      this.machine.link.send({ writer: this.id, record, over, annotations }),
    );
    if (answer.kind !== "found") return false;
    this.#cached = answer.view as StoredLock;
    this.#setObserved(record);
    return true;
  }

  async #release(): Promise<void> {
    const startedAt = this.machine.clock.now();
    while (this.machine.clock.now().monoMs - startedAt.monoMs < this.#timings.renewDeadlineMs) {
      const answer = await this.#request(() => this.machine.link.send(undefined));
      if (answer.kind !== "found") return;
      // client-go checks its cached record, not the one that it has just read. That can clear another holder's lease.
      if (!this.#isLeader()) return;
      this.#cached = answer.view as StoredLock;
      const time = this.#recordAt(this.machine.clock.now()).renewTime;
      const { leaseTransitions } = answer.view.record;
      const empty = {
        holderIdentity: "",
        leaseDurationSeconds: 1,
        acquireTime: time,
        renewTime: time,
        leaseTransitions,
      };
      if (await this.#update(empty)) return;
    }
  }

  #isLeader(): boolean {
    return this.#observed?.holderIdentity === this.#identity;
  }

  #isLeaseValid(now: Instant): boolean {
    if (!this.#observed || !this.#observedAt) return false;
    return now.monoMs - this.#observedAt.monoMs < (this.#observed.leaseDurationSeconds ?? 0) * 1_000;
  }

  #setObserved(record: LeaderRecord): void {
    this.#observed = record;
    this.#observedAt = this.machine.clock.now();
  }

  #recordAt(now: Instant): LeaderRecord {
    const time = new Date(now.wallMs).toISOString().replace("Z", "000Z");
    return {
      holderIdentity: this.#identity,
      leaseDurationSeconds: this.#timings.leaseDurationMs / 1_000,
      acquireTime: time,
      renewTime: time,
      leaseTransitions: 0,
    };
  }

  /** Sends a request with the timeout that NewFromKubeconfig sets. */
  #request(send: () => Promise<Answer>): Promise<Answer> {
    const timeout = this.#sleep(Math.max(1_000, this.#timings.renewDeadlineMs / 2)).then((): Answer => {
      return { kind: "failed", failure: { kind: "timeout", message: "timeout" } };
    });
    return Promise.race([send(), timeout]);
  }

  #sleep(ms: number): Promise<void> {
    const { clock } = this.machine;
    return new Promise((resolve) => clock.at(clock.now().monoMs + ms, resolve));
  }
}

/** json.Marshal of a record: metav1.Time has a precision of seconds. */
function rawOf(record: LeaderRecord): string {
  return JSON.stringify({
    ...record,
    acquireTime: record.acquireTime?.slice(0, 19),
    renewTime: record.renewTime?.slice(0, 19),
  });
}
