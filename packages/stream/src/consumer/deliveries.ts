/**
 * The messages in flight. Each is passed to the handler, and again if the handler throws and the decision is to retry. At most
 * `concurrency` are in flight; the reader checks `hasRoom` first, and `onSettled` reports that there is room again.
 * A handler that hangs cannot be stopped: `abandon` stops waiting for it, and its message counts as unfinished.
 */
import { after, asError, Backoff, type BackoffPolicy, type Clock } from "@tenure/base";
import { Progress, type Step } from "./progress.ts";

/** What to do when the handler threw for a message. */
export type Decision = "retry" | "skip" | "stop";

export interface HandlerFailure<Message> {
  readonly error: Error;
  readonly message: Message;
  /** How many times the handler has thrown for this message, including this time. */
  readonly failures: number;
}

interface DeliveriesOptions<Message, Cursor> {
  readonly handle: (message: Message) => unknown;
  readonly cursorOf: ((message: Message) => Cursor) | undefined;
  readonly resumeFrom: Cursor | undefined;
  readonly concurrency: number;
  readonly decide: (failure: HandlerFailure<Message>) => Decision;
  readonly backOff: BackoffPolicy;
  readonly clock: Clock;
  readonly random: () => number;
  readonly onFailure: (failure: HandlerFailure<Message>, decision: Decision) => void;
  /** A message was finished, skipped or given up. */
  readonly onSettled: () => void;
  /** The handler threw, and the decision was to stop. */
  readonly onStop: (failure: HandlerFailure<Message>) => void;
}

interface Delivery<Message, Cursor> {
  readonly message: Message;
  step: Step<Cursor> | undefined;
  failures: number;
  backoff?: Backoff;
  /** Set while the message waits for its next attempt. */
  cancelWait?: (() => void) | undefined;
}

export class Deliveries<Message, Cursor> {
  /** The number of finished messages, including skipped ones. */
  finished = 0;
  skipped = 0;
  /** The number of messages that are no longer in flight and not finished, because the handler threw. */
  givenUp = 0;
  readonly #options: DeliveriesOptions<Message, Cursor>;
  readonly #progress: Progress<Cursor>;
  /** Messages in flight for which the handler threw at least once. */
  readonly #failing = new Set<Delivery<Message, Cursor>>();
  #inFlight = 0;
  #isDraining = false;
  #isAbandoned = false;
  readonly #onIdle: (() => void)[] = [];

  constructor(options: DeliveriesOptions<Message, Cursor>) {
    this.#options = options;
    this.#progress = new Progress(options.resumeFrom);
  }

  get inFlight(): number {
    return this.#inFlight;
  }

  get cursor(): Cursor | undefined {
    return this.#progress.cursor;
  }

  get hasRoom(): boolean {
    return this.#inFlight < this.#options.concurrency;
  }

  /** How many times the handler threw for the message in flight with the most failures. */
  get failures(): number {
    let most = 0;
    for (const { failures } of this.#failing) most = Math.max(most, failures);
    return most;
  }

  deliver(message: Message): void {
    this.#inFlight++;
    this.#try({ message, step: undefined, failures: 0 });
  }

  /** Resolves when no message is in flight, or when all are abandoned. */
  whenIdle(): Promise<void> {
    if (this.#inFlight === 0 || this.#isAbandoned) return Promise.resolve();
    return new Promise((resolve) => this.#onIdle.push(resolve));
  }

  /** From now on, gives up a message when its handler throws. It is unfinished, so a later stream delivers it again. */
  drain(): void {
    this.#isDraining = true;
    for (const delivery of [...this.#failing]) {
      if (!delivery.cancelWait) continue;
      delivery.cancelWait();
      this.#giveUp(delivery);
    }
  }

  /** Stops waiting for the messages in flight. */
  abandon(): void {
    this.drain();
    this.#isAbandoned = true;
    this.#resolveIdle();
  }

  #try(delivery: Delivery<Message, Cursor>): void {
    const { handle, cursorOf } = this.#options;
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
    // Without a step the cursor is unknown, and skipping the message would leave a gap.
    const decision = delivery.step ? this.#decide(failure) : "stop";
    this.#options.onFailure(failure, decision);
    if (decision === "retry") {
      this.#retry(delivery);
    } else if (decision === "skip") {
      this.skipped++;
      this.#done(delivery);
    } else {
      this.#options.onStop(failure);
      this.#giveUp(delivery);
    }
  }

  #decide(failure: HandlerFailure<Message>): Decision {
    try {
      const decision = this.#options.decide(failure);
      return decision === "retry" || decision === "skip" ? decision : "stop";
    } catch {
      return "stop";
    }
  }

  #retry(delivery: Delivery<Message, Cursor>): void {
    const { backOff, random, clock } = this.#options;
    delivery.backoff ??= new Backoff(backOff, random);
    delivery.cancelWait = after(clock, delivery.backoff.next(), () => {
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
    if (this.#inFlight === 0) this.#resolveIdle();
    this.#options.onSettled();
  }

  #resolveIdle(): void {
    for (const resolve of this.#onIdle.splice(0)) resolve();
  }
}

function isPromise(value: unknown): value is PromiseLike<unknown> {
  return typeof (value as PromiseLike<unknown> | undefined)?.then === "function";
}
