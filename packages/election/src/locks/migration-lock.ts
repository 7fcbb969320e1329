/**
 * Two locks used as one, to move an election from a legacy lock to a Lease with never two leaders: at first the replicas use
 * `from`, after a rolling update both locks, and after another rolling update only `to`.
 *
 * A candidate that holds only one of the two locks does not lead. migration-protocol.ts decides, and this class performs.
 */
import { type Problem, unknownOptions } from "@tenure/base";
import type { Answer, LockView } from "@tenure/core";
import { invalidOptions } from "../errors.ts";
import type { CandidateRegistry, Lock, LockObserver, LockSpec } from "../lock.ts";
import {
  beginWrite,
  endWrite,
  failedRead,
  initialProtocolState,
  isNews,
  nextWriteStep,
  observeViews,
  type Side,
  sideToAccept,
  type Views,
  viewIn,
} from "./migration-protocol.ts";

/** The options of a lock that is two locks. Both are required. */
export interface MigrationLockOptions {
  /** The lock that the election moves away from. */
  readonly from: Lock;
  /** The lock that the election moves to. It must be on the same API server. */
  readonly to: Lock;
}

/**
 * Two locks used as one, to move an election from a legacy lock to a Lease.
 * @example new MigrationLock({ from: new ConfigMapLock({ name: "billing" }), to: new LeaseLock({ name: "billing" }) })
 */
export class MigrationLock implements Lock {
  readonly #locks: Readonly<Record<Side, Lock>>;
  #state = initialProtocolState;

  constructor(options: MigrationLockOptions) {
    const problems: Problem[] = [...unknownOptions(options, { from: true, to: true })];
    const { from, to } = options;
    if (typeof from?.read !== "function") problems.push({ field: "from", rule: "must be a lock" });
    if (typeof to?.read !== "function") problems.push({ field: "to", rule: "must be a lock" });
    if (problems.length > 0) throw invalidOptions("use two locks as one", problems);
    this.#locks = { from, to };
  }

  get description(): string {
    return `${this.#locks.from.description} and ${this.#locks.to.description}`;
  }

  get spec(): LockSpec | undefined {
    const { spec: from } = this.#locks.from;
    const { spec: to } = this.#locks.to;
    return from && to ? { kind: "migration", from, to } : undefined;
  }

  get candidates(): CandidateRegistry | undefined {
    return this.#locks.to.candidates;
  }

  async prepare(): Promise<void> {
    const { from, to } = this.#locks;
    await Promise.all([from.prepare?.(), to.prepare?.()]);
    const [addressOfFrom, addressOfTo] = await Promise.all([from.serverAddress?.(), to.serverAddress?.()]);
    if (addressOfFrom === undefined || addressOfTo === undefined || addressOfFrom === addressOfTo) return;
    const problem = {
      field: "to",
      rule: "must be on the same API server as from",
      limit: addressOfFrom,
      value: addressOfTo,
      fix: "use one cluster for both, because changes in two clusters have no order",
    };
    throw invalidOptions(`use ${this.description} as one lock`, [problem]);
  }

  async read(signal: AbortSignal, timeoutMs?: number): Promise<Answer> {
    const { known } = this.#state;
    const [from, to] = await Promise.all([
      this.#locks.from.read(signal, timeoutMs),
      this.#locks.to.read(signal, timeoutMs),
    ]);
    return failedRead(from, to) ?? this.#observe({ from: viewIn(from), to: viewIn(to) }, known);
  }

  async write(...args: Parameters<Lock["write"]>): Promise<Answer> {
    const [record] = args;
    this.#state = beginWrite(this.#state, record);
    try {
      return await this.#writeBoth(...args);
    } finally {
      this.#state = endWrite(this.#state, record);
    }
  }

  /** Writes only to the object that has the order. A write to the other one could not make the acceptance any safer. */
  async acceptTransfer(over: LockView, signal: AbortSignal, timeoutMs?: number): Promise<Answer> {
    const { known } = this.#state;
    const side = sideToAccept(known, over);
    const view = side && known[side];
    // The candidate decided on other versions than the ones that are known now. It must read first.
    if (!view) return { kind: "conflict" };
    const answer = await this.#locks[side].acceptTransfer?.(view, signal, timeoutMs);
    if (answer?.kind === "found") return this.#observe({ ...known, [side]: answer.view }, known);
    return answer?.kind === "failed" ? answer : { kind: "conflict" };
  }

  watch(observer: LockObserver, signal: AbortSignal): void {
    const isUp = { from: false, to: false };
    for (const side of ["from", "to"] as const) this.#watchOne(side, isUp, observer, signal);
  }

  announce(message: string, view: LockView | undefined, signal: AbortSignal): Promise<void> {
    return this.#locks.to.announce?.(message, viewsIn(view).to, signal) ?? Promise.resolve();
  }

  async #writeBoth(...[record, over, signal, timeoutMs]: Parameters<Lock["write"]>): Promise<Answer> {
    const { known } = this.#state;
    const before = viewsIn(over);
    const answers: Partial<Record<Side, Answer>> = {};
    for (;;) {
      const step = nextWriteStep(record, answers);
      if (step.do === "give-up") return step.answer;
      if (step.do === "complete") return this.#observe(step.views, known);
      answers[step.side] = await this.#locks[step.side].write(record, before[step.side], signal, timeoutMs);
    }
  }

  #watchOne(side: Side, isUp: Record<Side, boolean>, observer: LockObserver, signal: AbortSignal): void {
    this.#locks[side].watch?.(
      {
        observed: (view) => {
          if (isNews(this.#state, side, view)) observer.changed();
        },
        deleted: () => observer.changed(),
        changed: () => observer.changed(),
        up: () => {
          isUp[side] = true;
          if (isUp.from && isUp.to) observer.up();
        },
        down: (failure) => {
          isUp[side] = false;
          observer.down(failure);
        },
      },
      signal,
    );
  }

  #observe(views: Views, knownAtStart: Views): Answer {
    const { state, answer } = observeViews(this.#state, views, knownAtStart);
    this.#state = state;
    return answer;
  }
}

/** The two objects behind a view that this lock returned. */
function viewsIn(view: LockView | undefined): Partial<Views> {
  return (view?.object ?? {}) as Partial<Views>;
}
