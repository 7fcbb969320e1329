/**
 * The messages in flight: each is handed to the handler, and again if that throws and it should be. At most `concurrency` at a
 * time; whoever reads asks `hasRoom` first and is called back when there is room again.
 * Does not promise that a handler stops: one that hangs is abandoned by `abandon`, and its message counts as unfinished.
 */
import { asError } from "../errors.ts";
import type { Clock } from "../platform.ts";
import { BackOff, type BackOffOptions } from "./back-off.ts";
import { Progress, type Step } from "./progress.ts";

/** What to do with a message whose handler threw. */
export type Decision = "retry" | "skip" | "stop";

export interface HandlerFailure<Message> {
  readonly error: Error;
  readonly message: Message;
  /** How often the handler threw for this message, this time included. */
  readonly failures: number;
}

export interface DeliveryParts<Message, Cursor> {
  readonly handle: (message: Message) => unknown;
  readonly cursorOf: ((message: Message) => Cursor) | undefined;
  readonly resumeFrom: Cursor | undefined;
  readonly concurrency: number;
  readonly decide: (failure: HandlerFailure<Message>) => Decision;
  readonly backOff: BackOffOptions;
  readonly clock: Clock;
  readonly random: () => number;
  readonly onFailure: (failure: HandlerFailure<Message>, decision: Decision) => void;
  /** One more is finished, skipped or given up. */
  readonly onSettled: () => void;
  /** The handler threw, and the decision was to stop. */
  readonly onStop: (failure: HandlerFailure<Message>) => void;
}

interface Delivery<Message, Cursor> {
  readonly message: Message;
  step: Step<Cursor> | undefined;
  failures: number;
  backOff?: BackOff;
  /** Set while it waits for its next try. */
  cancelWait?: (() => void) | undefined;
}

export class Deliveries<Message, Cursor> {
  /** How many are finished, skipped ones included. */
  finished = 0;
  skipped = 0;
  /** How many were given up as their handler threw: neither finished nor in flight any more. */
  givenUp = 0;
  readonly #parts: DeliveryParts<Message, Cursor>;
  readonly #progress: Progress<Cursor>;
  /** Those in flight whose handler threw at least once. */
  readonly #failing = new Set<Delivery<Message, Cursor>>();
  #inFlight = 0;
  #isDraining = false;
  #isAbandoned = false;
  readonly #onIdle: (() => void)[] = [];

  constructor(parts: DeliveryParts<Message, Cursor>) {
    this.#parts = parts;
    this.#progress = new Progress(parts.resumeFrom);
  }

  get inFlight(): number {
    return this.#inFlight;
  }

  get cursor(): Cursor | undefined {
    return this.#progress.cursor;
  }

  get hasRoom(): boolean {
    return this.#inFlight < this.#parts.concurrency;
  }

  /** The most often that the handler threw for one of the messages in flight. */
  get failures(): number {
    let most = 0;
    for (const { failures } of this.#failing) most = Math.max(most, failures);
    return most;
  }

  take(message: Message): void {
    this.#inFlight++;
    this.#try({ message, step: undefined, failures: 0 });
  }

  /** Resolves when nothing is in flight any more, or all of it was abandoned. */
  idle(): Promise<void> {
    if (this.#inFlight === 0 || this.#isAbandoned) return Promise.resolve();
    return new Promise((resolve) => this.#onIdle.push(resolve));
  }

  /** From now on a message whose handler throws is given up: it was not finished, so it is delivered again some day. */
  drain(): void {
    this.#isDraining = true;
    for (const delivery of [...this.#failing]) {
      if (!delivery.cancelWait) continue;
      delivery.cancelWait();
      this.#giveUp(delivery);
    }
  }

  /** Nobody waits any longer for what is in flight. */
  abandon(): void {
    this.drain();
    this.#isAbandoned = true;
    this.#tellIdle();
  }

  #try(delivery: Delivery<Message, Cursor>): void {
    const { handle, cursorOf } = this.#parts;
    let result: unknown;
    try {
      delivery.step ??= this.#progress.begin(cursorOf?.(delivery.message));
      result = handle(delivery.message);
    } catch (error) {
      this.#failed(delivery, error);
      return;
    }
    if (isPromise(result)) {
      result.then(
        () => this.#done(delivery),
        (error) => this.#failed(delivery, error),
      );
    } else {
      this.#done(delivery);
    }
  }

  #done(delivery: Delivery<Message, Cursor>): void {
    if (delivery.step) this.#progress.finish(delivery.step);
    this.finished++;
    this.#settle(delivery);
  }

  #failed(delivery: Delivery<Message, Cursor>, thrown: unknown): void {
    delivery.failures++;
    this.#failing.add(delivery);
    const failure = { error: asError(thrown), message: delivery.message, failures: delivery.failures };
    if (this.#isDraining) {
      this.#giveUp(delivery);
      return;
    }
    // Without a step its cursor is not known, and skipping it would leave a hole that nobody sees.
    const decision = delivery.step ? this.#decide(failure) : "stop";
    this.#parts.onFailure(failure, decision);
    if (decision === "retry") {
      this.#retry(delivery);
    } else if (decision === "skip") {
      this.skipped++;
      this.#done(delivery);
    } else {
      this.#parts.onStop(failure);
      this.#giveUp(delivery);
    }
  }

  #decide(failure: HandlerFailure<Message>): Decision {
    try {
      const decision = this.#parts.decide(failure);
      return decision === "retry" || decision === "skip" ? decision : "stop";
    } catch {
      return "stop";
    }
  }

  #retry(delivery: Delivery<Message, Cursor>): void {
    const { backOff, random, clock } = this.#parts;
    delivery.backOff ??= new BackOff(backOff, random);
    delivery.cancelWait = clock.after(delivery.backOff.next(), () => {
      delivery.cancelWait = undefined;
      this.#try(delivery);
    });
  }

  #giveUp(delivery: Delivery<Message, Cursor>): void {
    this.givenUp++;
    this.#settle(delivery);
  }

  #settle(delivery: Delivery<Message, Cursor>): void {
    if (delivery.failures > 0) this.#failing.delete(delivery);
    this.#inFlight--;
    if (this.#inFlight === 0) this.#tellIdle();
    this.#parts.onSettled();
  }

  #tellIdle(): void {
    if (this.#onIdle.length === 0) return;
    for (const resolve of this.#onIdle.splice(0)) resolve();
  }
}

function isPromise(value: unknown): value is PromiseLike<unknown> {
  return typeof (value as PromiseLike<unknown> | undefined)?.then === "function";
}
