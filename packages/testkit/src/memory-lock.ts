/**
 * A lock in memory, for tests with real elections in virtual time. `MemoryServer` stores the lock and stands in for the
 * API server: writes are compare-and-swap, and watchers learn of each change. Each candidate has its own `MemoryLock`, a
 * connection to the server that the test can slow down, cut, or make fail in any other way.
 */
import { after, onAbort } from "@tenure/base";
import type { VirtualClock } from "@tenure/base/virtual-clock";
import type { Answer, Failure, LeaderRecord, Lock, LockObserver, LockView } from "@tenure/election";

/**
 * What goes wrong with a request.
 * - `hang`: the request does not reach the server.
 * - `lose-answer`: the server performs the request, but its answer does not arrive.
 * - `hold`: the answer arrives when the test calls `answerHeld`, even if the candidate aborts the request first.
 * - `reject`, `throw`: the lock has a defect.
 * - a `Failure`: the server answers with this failure and does not perform the request.
 */
export type Fault = "hang" | "lose-answer" | "hold" | "reject" | "throw" | Failure;

/** A request that a candidate made. */
export interface Request {
  readonly kind: "read" | "write";
  /** What to write. */
  readonly record?: LeaderRecord;
  /** Aborts when the candidate stops waiting for the answer. */
  readonly signal: AbortSignal;
  /** How long the candidate waits for the answer. */
  readonly timeoutMs: number | undefined;
}

/** Stores one lock. A test can also change the lock here, as an operator would with `kubectl edit`. */
export class MemoryServer {
  readonly clock: VirtualClock;
  /** Every change of the lock, in order: "won by a", "renewed by a", "released", "deleted". A test can add its own entries. */
  readonly log: string[] = [];
  /** The lock; undefined if it does not exist. */
  view: LockView | undefined;
  /** How long after a change the watchers learn of it. With 0 they learn of it before the writer gets its answer. */
  watchDelayMs = 1;
  #revision = 0n;
  #uid = 0;
  readonly #observers = new Set<LockObserver>();

  constructor(clock: VirtualClock) {
    this.clock = clock;
  }

  /** The identity in the lock: "" if nobody holds it, undefined if it does not exist. */
  get holder(): string | undefined {
    return this.view?.record.holderIdentity;
  }

  /** How many candidates watch the lock. */
  get watchers(): number {
    return this.#observers.size;
  }

  /** A new connection to this server, for one candidate. */
  link(): MemoryLock {
    return new MemoryLock(this);
  }

  /** Writes the record if the lock is still `over`, or does not exist and `over` is undefined. */
  write(record: LeaderRecord, over: LockView | undefined): Answer {
    if (over && !this.view) return { kind: "absent" };
    if (over?.version !== this.view?.version) return { kind: "conflict" };
    return { kind: "found", view: this.put(record) };
  }

  /** Writes the record unconditionally. */
  put(record: LeaderRecord): LockView {
    this.#revision += 1n;
    const uid = this.view?.uid ?? `uid-${++this.#uid}`;
    const before = this.holder;
    const view = { uid, version: String(this.#revision), revision: this.#revision, record };
    this.view = view;
    const { holderIdentity: holder } = record;
    this.log.push(
      holder === "" ? "released" : holder === before ? `renewed by ${holder}` : `won by ${holder}`,
    );
    this.#notify((observer) => observer.observed(view));
    return view;
  }

  /** Deletes the lock. */
  delete(): void {
    this.#revision += 1n;
    this.view = undefined;
    this.log.push("deleted");
    const revision = this.#revision;
    this.#notify((observer) => observer.deleted(revision));
  }

  watch(observer: LockObserver, signal: AbortSignal): void {
    this.#observers.add(observer);
    signal.addEventListener("abort", () => this.#observers.delete(observer), { once: true });
    observer.up();
  }

  #notify(call: (observer: LockObserver) => void): void {
    const callAll = () => {
      for (const observer of this.#observers) call(observer);
    };
    if (this.watchDelayMs === 0) callAll();
    else after(this.clock, this.watchDelayMs, callAll);
  }
}

/** One candidate's connection to a `MemoryServer`. */
export class MemoryLock implements Lock {
  readonly description = "lock in memory";
  readonly server: MemoryServer;
  /** Every request that was made over this connection, in order. */
  readonly requests: Request[] = [];
  /** How long each request takes. */
  latencyMs = 1;
  /** Decides for each request what goes wrong with it. While it is set, changes do not reach the candidate's watch either. */
  fault: ((request: Request) => Fault | undefined) | undefined;
  prepare?: () => Promise<void>;
  announce?: NonNullable<Lock["announce"]>;
  readonly #held: (() => void)[] = [];

  constructor(server: MemoryServer) {
    this.server = server;
  }

  /** Cuts the connection, or restores it. The watch gets no notification, as if a router dropped all packets. */
  cut(isCut = true): void {
    this.fault = isCut ? () => "hang" : undefined;
  }

  read(signal: AbortSignal, timeoutMs?: number): Promise<Answer> {
    return this.#send({ kind: "read", signal, timeoutMs }, () => {
      const { view } = this.server;
      return view ? { kind: "found", view } : { kind: "absent" };
    });
  }

  write(
    record: LeaderRecord,
    over: LockView | undefined,
    signal: AbortSignal,
    timeoutMs?: number,
  ): Promise<Answer> {
    return this.#send({ kind: "write", record, signal, timeoutMs }, () => this.server.write(record, over));
  }

  watch(observer: LockObserver, signal: AbortSignal): void {
    const unlessFaulty = <Args extends unknown[]>(call: (...args: Args) => void) => {
      return (...args: Args) => {
        if (!this.fault) call(...args);
      };
    };
    this.server.watch(
      {
        observed: unlessFaulty((view) => observer.observed(view)),
        deleted: unlessFaulty((revision) => observer.deleted(revision)),
        changed: unlessFaulty(() => observer.changed()),
        up: () => observer.up(),
        down: (failure) => observer.down(failure),
      },
      signal,
    );
  }

  /** Delivers the answers that the fault `hold` keeps back. */
  answerHeld(): void {
    for (const answer of this.#held.splice(0)) answer();
  }

  #send(request: Request, perform: () => Answer): Promise<Answer> {
    this.requests.push(request);
    const fault = this.fault?.(request);
    if (fault === "throw") throw new Error("this lock throws");
    if (fault === "reject") return Promise.reject(new Error("this lock rejects"));
    return new Promise((resolve) => {
      const aborted: Answer = { kind: "failed", failure: { kind: "timeout", message: "aborted" } };
      if (fault !== "hold") onAbort(request.signal, () => resolve(aborted));
      if (fault === "hang") return;
      after(this.server.clock, this.latencyMs, () => {
        if (typeof fault === "object") return resolve({ kind: "failed", failure: fault });
        const answer = perform();
        if (fault === "hold") this.#held.push(() => resolve(answer));
        else if (fault !== "lose-answer") resolve(answer);
      });
    });
  }
}

/** A record as another candidate would write it. */
export function recordOf(holderIdentity: string, overrides: Partial<LeaderRecord> = {}): LeaderRecord {
  return {
    holderIdentity,
    leaseDurationSeconds: 15,
    acquireTime: "2029-12-31T23:00:00.000000Z",
    renewTime: "2029-12-31T23:59:59.000000Z",
    leaseTransitions: 3,
    ...overrides,
  };
}
