/**
 * The messages in flight. Each is passed to the handler, and again if the handler throws and the decision is to retry. At most
 * `concurrency` are in flight; the reader checks `hasRoom` first, and `onSettled` reports that there is room again.
 * A handler that hangs cannot be stopped: its signal aborts, and its message stays in flight until it returns. It is never passed
 * to the handler a second time before that. `abandon` stops waiting for it, and its message counts as unfinished.
 */
import { after, asError, Backoff, type BackoffPolicy, type Clock } from "@tenure/base";
import { StreamError } from "../errors.ts";
import { HandlerTimeouts } from "./handler-timeouts.ts";
import { Progress, type Step } from "./progress.ts";

/** What to do when the handler threw for a message. */
export type Decision = "retry" | "skip" | "stop" | "dead-letter";

export interface HandlerFailure<Message> {
  readonly error: Error;
  readonly message: Message;
  /** How many times the handler has thrown for this message, including this time. */
  readonly failures: number;
}

/** What a handler may look at. */
interface HandlerCall {
  /** Aborts when the handler has run for too long, and when nobody waits for it any more. */
  readonly signal: AbortSignal;
}

interface DeliveriesOptions<Message, Cursor> {
  readonly handle: (message: Message, call: HandlerCall) => unknown;
  readonly cursorOf: ((message: Message) => Cursor) | undefined;
  readonly resumeFrom: Cursor | undefined;
  readonly concurrency: number;
  readonly decide: (failure: HandlerFailure<Message>) => Decision;
  /** After this many failures, "retry" means "dead-letter", or "stop" if there is no place for dead letters. */
  readonly maxFailures: number;
  readonly deadLetter: ((failure: HandlerFailure<Message>, call: HandlerCall) => unknown) | undefined;
  readonly handlerTimeoutMs: number;
  readonly backOff: BackoffPolicy;
  readonly clock: Clock;
  readonly random: () => number;
  readonly onFailure: (failure: HandlerFailure<Message>, decision: Decision) => void;
  /** Called before the handler gets a message again. */
  readonly onRetry: () => void;
  /** A handler has run for too long. */
  readonly onOverdue: () => void;
  /** The message was finished or skipped, and need not be sent again. */
  readonly onFinished: (message: Message) => void;
  /** A message was finished, skipped or given up. */
  readonly onSettled: () => void;
  /** The handler threw, and the decision was to stop. */
  readonly onStop: (failure: HandlerFailure<Message>) => void;
}

class Delivery<Message, Cursor> implements HandlerCall {
  readonly message: Message;
  step: Step<Cursor> | undefined;
  failures = 0;
  /** The last failure, if the message is a dead letter. */
  dead: HandlerFailure<Message> | undefined;
  backoff: Backoff | undefined;
  /** Set while the message waits for its next attempt. */
  cancelWait: (() => void) | undefined;
  #controller: AbortController | undefined;
  #reason: StreamError | undefined;

  constructor(message: Message) {
    this.message = message;
  }

  /** Created when it is asked for, because most handlers do not. */
  get signal(): AbortSignal {
    this.#controller ??= new AbortController();
    if (this.#reason) this.#controller.abort(this.#reason);
    return this.#controller.signal;
  }

  abort(reason: StreamError): void {
    this.#reason ??= reason;
    this.#controller?.abort(this.#reason);
  }

  /** Why the handler was told to stop, if it was. The next attempt gets a new signal. */
  endAttempt(): StreamError | undefined {
    const reason = this.#reason;
    this.#controller = undefined;
    this.#reason = undefined;
    return reason;
  }
}

export class Deliveries<Message, Cursor> {
  /** The number of finished messages, including skipped ones. */
  finished = 0;
  skipped = 0;
  /** The number of messages that were dealt with as dead letters. */
  deadLettered = 0;
  /** The number of messages that are no longer in flight and not finished, because the handler threw. */
  givenUp = 0;
  readonly #options: DeliveriesOptions<Message, Cursor>;
  readonly #progress: Progress<Cursor>;
  /** Messages in flight for which the handler threw at least once. */
  readonly #failing = new Set<Delivery<Message, Cursor>>();
  /** Messages whose handler runs. Those of a synchronous handler never are in here. */
  readonly #running = new Set<Delivery<Message, Cursor>>();
  readonly #timeouts: HandlerTimeouts<Delivery<Message, Cursor>>;
  #inFlight = 0;
  #isDraining = false;
  #isAbandoned = false;
  readonly #onIdle: (() => void)[] = [];

  constructor(options: DeliveriesOptions<Message, Cursor>) {
    this.#options = options;
    this.#progress = new Progress(options.resumeFrom);
    const { clock, handlerTimeoutMs } = options;
    this.#timeouts = new HandlerTimeouts(clock, handlerTimeoutMs, (delivery) => {
      const message = `the handler did not return within ${handlerTimeoutMs} ms`;
      delivery.abort(new StreamError("HandlerTimeout", message));
      options.onOverdue();
    });
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

  /** How long a handler has run that should have returned before; 0 if there is none. */
  get overdueMs(): number {
    return this.#timeouts.overdueMs;
  }

  deliver(message: Message): void {
    this.#inFlight++;
    this.#try(new Delivery(message));
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

  /** Stops waiting for the messages in flight, and tells their handlers so. */
  abandon(): void {
    this.drain();
    this.#isAbandoned = true;
    this.#timeouts.close();
    for (const delivery of this.#running)
      delivery.abort(new StreamError("Misused", "The drain time is over."));
    this.#resolveIdle();
  }

  #try(delivery: Delivery<Message, Cursor>): void {
    const { handle, deadLetter, cursorOf, onRetry } = this.#options;
    let result: unknown;
    try {
      delivery.step ??= this.#progress.begin(cursorOf?.(delivery.message));
      if (delivery.failures > 0) onRetry();
      result = delivery.dead ? deadLetter?.(delivery.dead, delivery) : handle(delivery.message, delivery);
    } catch (error) {
      this.#failed(delivery, error);
      return;
    }
    if (!isPromise(result)) {
      this.#done(delivery);
      return;
    }
    this.#running.add(delivery);
    this.#timeouts.start(delivery);
    result.then(
      () => {
        this.#ended(delivery);
        this.#done(delivery);
      },
      (error) => this.#failed(delivery, this.#ended(delivery) ?? error),
    );
  }

  /** The handler has returned. The result is the reason why it was told to stop, if it was. */
  #ended(delivery: Delivery<Message, Cursor>): StreamError | undefined {
    this.#running.delete(delivery);
    this.#timeouts.end(delivery);
    return delivery.endAttempt();
  }

  #done(delivery: Delivery<Message, Cursor>): void {
    if (delivery.step) this.#progress.finish(delivery.step);
    this.finished++;
    if (delivery.dead) this.deadLettered++;
    this.#options.onFinished(delivery.message);
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
    const decision = this.#decisionOn(delivery, failure);
    this.#options.onFailure(failure, decision);
    if (decision === "retry") {
      this.#retry(delivery);
    } else if (decision === "skip") {
      this.skipped++;
      this.#done(delivery);
    } else if (decision === "dead-letter") {
      delivery.dead = failure;
      delivery.backoff = undefined;
      this.#try(delivery);
    } else {
      this.#options.onStop(failure);
      this.#giveUp(delivery);
    }
  }

  #decisionOn(delivery: Delivery<Message, Cursor>, failure: HandlerFailure<Message>): Decision {
    const { maxFailures, deadLetter } = this.#options;
    // Without a step the cursor is unknown, and skipping the message would leave a gap.
    if (!delivery.step) return "stop";
    // A dead letter that nobody takes must not be lost.
    if (delivery.dead) return "retry";
    const decided = this.#decide(failure);
    const decision = decided === "retry" && failure.failures >= maxFailures ? "dead-letter" : decided;
    return decision === "dead-letter" && !deadLetter ? "stop" : decision;
  }

  #decide(failure: HandlerFailure<Message>): Decision {
    try {
      const decision = this.#options.decide(failure);
      return ["retry", "skip", "dead-letter"].includes(decision) ? decision : "stop";
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
