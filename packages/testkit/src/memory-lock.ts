/** A lock in memory with compare-and-swap, that several candidates share, each by a link that can be broken. */

import type { VirtualClock } from "@tenure/base/virtual-clock";
import type { Answer, Failure, LeaderRecord, LockView } from "@tenure/core";
import type { Lock, LockObserver, LockSpec } from "@tenure/election";

/**
 * What goes wrong with a request: it never arrives, or its answer never does, or that comes when the test says so, or the
 * lock has a defect and rejects or throws.
 */
export type Fault = "hang" | "lose-answer" | "hold" | "reject" | "throw" | Failure;

export interface Request {
  readonly kind: "read" | "write";
  readonly record?: LeaderRecord;
  readonly signal: AbortSignal;
  /** How long the candidate waits for the answer. */
  readonly timeoutMs: number | undefined;
}

export class MemoryServer {
  readonly clock: VirtualClock;
  /** Everything that changed the lock, and what a test notes beside it. */
  readonly log: string[] = [];
  view: LockView | undefined;
  /** How long after a change its watchers learn of it; 0: before the writer does. */
  watchDelayMs = 1;
  #revision = 0n;
  #uid = 0;
  readonly #observers = new Set<LockObserver>();

  constructor(clock: VirtualClock) {
    this.clock = clock;
  }

  get holder(): string | undefined {
    return this.view?.record.holderIdentity;
  }

  get watchers(): number {
    return this.#observers.size;
  }

  write(record: LeaderRecord, over: LockView | undefined): Answer {
    if (over && !this.view) return { kind: "absent" };
    if (over?.version !== this.view?.version) return { kind: "conflict" };
    return { kind: "found", view: this.put(record) };
  }

  /** A write that asks for nothing: somebody with an editor. */
  put(record: LeaderRecord): LockView {
    this.#revision += 1n;
    const uid = this.view?.uid ?? `uid-${++this.#uid}`;
    const before = this.view?.record.holderIdentity;
    this.view = { uid, version: String(this.#revision), revision: this.#revision, record };
    const { holderIdentity: holder } = record;
    this.log.push(
      holder === "" ? "released" : holder === before ? `renewed by ${holder}` : `won by ${holder}`,
    );
    const { view } = this;
    this.#tell((observer) => observer.observed(view));
    return view;
  }

  delete(): void {
    this.#revision += 1n;
    this.view = undefined;
    this.log.push("deleted");
    const revision = this.#revision;
    this.#tell((observer) => observer.deleted(revision));
  }

  watch(observer: LockObserver, signal: AbortSignal): void {
    this.#observers.add(observer);
    signal.addEventListener("abort", () => this.#observers.delete(observer), { once: true });
    observer.up();
  }

  #tell(tell: (observer: LockObserver) => void): void {
    const tellAll = () => {
      for (const observer of this.#observers) tell(observer);
    };
    if (this.watchDelayMs === 0) tellAll();
    else this.clock.at(this.clock.now().monoMs + this.watchDelayMs, tellAll);
  }

  /** Another way to this lock. */
  link(): MemoryLock {
    return new MemoryLock(this);
  }
}

export class MemoryLock implements Lock {
  readonly description = "lock in memory";
  readonly spec: LockSpec | undefined = undefined;
  readonly server: MemoryServer;
  readonly requests: Request[] = [];
  latencyMs = 1;
  fault: ((request: Request) => Fault | undefined) | undefined;
  prepare?: () => Promise<void>;
  announce?: NonNullable<Lock["announce"]>;
  readonly #held: (() => void)[] = [];

  constructor(server: MemoryServer) {
    this.server = server;
  }

  /** Cuts the link, or mends it. The watch stays up in silence, as a connection through a dead router does. */
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
    const through = <Args extends unknown[]>(tell: (...args: Args) => void): ((...args: Args) => void) => {
      return (...args) => {
        if (!this.fault) tell(...args);
      };
    };
    this.server.watch(
      {
        observed: through((view) => observer.observed(view)),
        deleted: through((revision) => observer.deleted(revision)),
        changed: through(() => observer.changed()),
        up: () => observer.up(),
        down: (failure) => observer.down(failure),
      },
      signal,
    );
  }

  /** Lets the answers through that were held back. */
  answerHeld(): void {
    for (const answer of this.#held.splice(0)) answer();
  }

  #send(request: Request, serve: () => Answer): Promise<Answer> {
    this.requests.push(request);
    const fault = this.fault?.(request);
    if (fault === "throw") throw new Error("this lock throws");
    if (fault === "reject") return Promise.reject(new Error("this lock rejects"));
    return new Promise((resolve) => {
      const aborted: Answer = { kind: "failed", failure: { kind: "timeout", message: "aborted" } };
      if (fault !== "hold") {
        request.signal.addEventListener("abort", () => resolve(aborted), { once: true });
      }
      if (fault === "hang") return;
      this.server.clock.at(this.server.clock.now().monoMs + this.latencyMs, () => {
        if (typeof fault === "object") return resolve({ kind: "failed", failure: fault });
        const answer = serve();
        if (fault === "hold") this.#held.push(() => resolve(answer));
        else if (fault !== "lose-answer") resolve(answer);
      });
    });
  }
}

/** A record of somebody else's. */
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
