/**
 * The way of a candidate without a client to the API server: requests that are slow, lost in either direction, repeated or answered
 * with errors, and a watch that can break, stall or lose events.
 */
import type { Answer, Failure } from "@tenure/core";
import type { LockObserver } from "@tenure/election";
import { Connection } from "./connection.ts";
import type { Random } from "./random.ts";
import type { Scheduler } from "./scheduler.ts";
import type { Change, Server, ServerAnswer, Write } from "./server.ts";

export class Link extends Connection {
  readonly #scheduler: Scheduler;
  readonly #server: Server;
  readonly #random: Random;
  /** See `Machine.defer`. */
  readonly #defer: (callback: () => void) => void;
  readonly #watches = new Set<Watch>();

  constructor(scheduler: Scheduler, server: Server, random: Random, defer: (callback: () => void) => void) {
    super(server.store, random);
    this.#scheduler = scheduler;
    this.#server = server;
    this.#random = random;
    this.#defer = defer;
  }

  /** Sends a read or a write. The promise never settles if the request or its answer is lost. */
  send(write: Write | undefined): Promise<Answer> {
    return new Promise((resolve) => {
      const answer = (result: Answer) => {
        if (this.answersCut || this.#random.chance(this.loseAnswers)) return;
        this.#scheduler.after(this.latencyMs(), () => this.#defer(() => resolve(result)));
      };
      const arrive = () => answer(this.#serve(write));
      if (this.requestsCut) return;
      this.#scheduler.after(this.latencyMs(), arrive);
      if (this.#random.chance(this.duplicateRequests)) {
        this.#scheduler.after(this.latencyMs() + this.#random.between(0, 4_000), () => this.#serve(write));
      }
    });
  }

  watch(observer: LockObserver, signal: AbortSignal): void {
    const watch = new Watch(
      this.#scheduler,
      this.#server,
      observer,
      signal,
      this.#random,
      this.#defer,
      () => ({
        isCut: this.isCut,
        isStalled: this.watchStalled || this.answersCut,
        dropsEvents: this.watchDropsEvents || this.watchSilent,
        latencyMs: this.latencyMs(),
      }),
    );
    this.#watches.add(watch);
    watch.connect();
  }

  override changed(): void {
    for (const watch of this.#watches) watch.linkChanged();
    super.changed();
  }

  #serve(write: Write | undefined): Answer {
    if (this.#server.isDown) return failed("unreachable");
    if (write && this.rejectedObject === 0) return failed("server");
    const error = this.errors && this.#random.chance(this.errors.probability) ? this.errors.kind : undefined;
    if (error === "conflict" && write) return { kind: "conflict" };
    if (error === "denied") return failed("denied");
    if (error === "throttled") return failed("throttled", this.#random.between(1_000, 5_000));
    // After a 500, the write may or may not have been committed.
    if (error === "internal") {
      if (this.#random.chance(0.5)) this.#execute(write);
      return failed("server");
    }
    if (error === "unavailable") return failed("server");
    if (error === "proxy" || error === "network") return failed("unreachable");
    if (error === "cut") {
      this.#execute(write);
      return failed("unreachable");
    }
    return this.#execute(write);
  }

  #execute(write: Write | undefined): Answer {
    const answer: ServerAnswer = write ? this.#server.write(write) : this.#server.read();
    return answer.kind === "found" && answer.view.isUnreadable ? failed("unreadable") : answer;
  }
}

interface LinkState {
  readonly isCut: boolean;
  readonly isStalled: boolean;
  readonly dropsEvents: boolean;
  readonly latencyMs: number;
}

/** One watch. It delivers events in order, and may break without the client noticing for a while. */
class Watch {
  readonly #scheduler: Scheduler;
  readonly #server: Server;
  readonly #observer: LockObserver;
  readonly #signal: AbortSignal;
  readonly #random: Random;
  readonly #defer: (callback: () => void) => void;
  readonly #link: () => LinkState;
  #unsubscribe: (() => void) | undefined;
  #delayed: Exclude<Change, { kind: "restored" }>[] = [];
  #isFirst = true;
  #lastDeliveryMs = 0;
  #generation = 0;

  constructor(
    scheduler: Scheduler,
    server: Server,
    observer: LockObserver,
    signal: AbortSignal,
    random: Random,
    defer: (callback: () => void) => void,
    link: () => LinkState,
  ) {
    this.#scheduler = scheduler;
    this.#server = server;
    this.#observer = observer;
    this.#signal = signal;
    this.#random = random;
    this.#defer = defer;
    this.#link = link;
    signal.addEventListener("abort", () => this.#close());
  }

  connect(): void {
    if (this.#signal.aborted) return;
    const link = this.#link();
    if (link.isCut) {
      this.#scheduler.after(this.#random.between(200, 1_500), () => this.#defer(() => this.connect()));
      return;
    }
    this.#scheduler.after(link.latencyMs, () => {
      this.#generation += 1;
      this.#lastDeliveryMs = this.#scheduler.nowMs;
      this.#unsubscribe = this.#server.subscribe((change) => this.#publish(change));
      this.#deliver(() => this.#observer.up());
      // A lock may report a gap, or leave it to the next read.
      if (!this.#isFirst && this.#random.chance(0.5)) this.#deliver(() => this.#observer.changed());
      this.#isFirst = false;
      if (this.#server.lock) this.#publish({ kind: "written", lock: this.#server.lock });
    });
  }

  linkChanged(): void {
    const link = this.#link();
    if (link.isCut) {
      if (!this.#unsubscribe) return;
      const generation = this.#generation;
      // A broken connection is noticed some time later, unless the link recovers first.
      const noticeAfterMs = this.#server.isDown ? link.latencyMs : this.#random.between(100, 20_000);
      this.#scheduler.after(noticeAfterMs, () => {
        if (this.#link().isCut && this.#generation === generation) this.#break();
      });
      return;
    }
    if (link.isStalled) return;
    if (this.#delayed.length > 0 && this.#random.chance(0.5)) {
      this.#break();
      return;
    }
    const delayed = this.#delayed;
    this.#delayed = [];
    for (const change of delayed) this.#publish(change);
  }

  #publish(change: Change): void {
    if (change.kind === "restored") this.#break();
    else this.#pass(change);
  }

  #pass(change: Exclude<Change, { kind: "restored" }>): void {
    const link = this.#link();
    if (link.dropsEvents) return;
    if (link.isStalled || link.isCut) {
      this.#delayed.push(change);
      return;
    }
    this.#deliver(() => {
      if (change.kind === "deleted") this.#observer.deleted(change.revision);
      else if (change.lock.isUnreadable) this.#observer.changed();
      else this.#observer.observed(change.lock);
    });
  }

  #deliver(event: () => void): void {
    const generation = this.#generation;
    this.#lastDeliveryMs = Math.max(this.#lastDeliveryMs, this.#scheduler.nowMs + this.#link().latencyMs);
    this.#scheduler.at(this.#lastDeliveryMs, () =>
      this.#defer(() => {
        if (this.#generation === generation && !this.#signal.aborted) event();
      }),
    );
  }

  #break(): void {
    this.#close();
    this.#defer(() => {
      if (this.#signal.aborted) return;
      this.#observer.down(undefined);
      this.connect();
    });
  }

  #close(): void {
    this.#unsubscribe?.();
    this.#unsubscribe = undefined;
    this.#delayed = [];
    this.#generation += 1;
  }
}

function failed(kind: Failure["kind"], retryAfterMs?: number): Answer {
  const failure = { kind, message: kind };
  return { kind: "failed", failure: retryAfterMs === undefined ? failure : { ...failure, retryAfterMs } };
}
