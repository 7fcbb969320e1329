/**
 * Consumes a gRPC server stream: connects, passes each message to the handler, reconnects when the stream breaks and resumes
 * after the last finished message, and shuts down without leaving a message half done.
 *
 * At most `concurrency` messages are in flight. The cursor never moves past an unfinished message. A new stream is opened only
 * when all messages of the old one are settled, so that a reconnect by itself processes no message twice.
 * It does not guarantee exactly-once: messages in flight at a crash are delivered again. The fencing token in the metadata lets
 * the service reject a worker that has lost leadership.
 */
import type { Metadata } from "@grpc/grpc-js";
import {
  asError,
  Backoff,
  type Clock,
  Emitter,
  onAbort,
  sentence,
  systemClock,
  systemRandom,
  warn,
} from "@tenure/base";
import { fenceMetadata } from "../access/fence.ts";
import { StreamError } from "../errors.ts";
import type {
  ConsumerEvents,
  ConsumerPhase,
  ConsumerStats,
  ShutdownReport,
  StreamHealth,
} from "../events.ts";
import { type CheckedOptions, type ConsumerOptions, checkOptions } from "../options.ts";
import { Connection } from "./connection.ts";
import { CurrentWait } from "./current-wait.ts";
import { Deadline } from "./deadline.ts";
import { Deliveries, type HandlerFailure } from "./deliveries.ts";
import { drainAndClose } from "./drain-and-close.ts";
import { CurrentContext } from "./handler-context.ts";
import { HealthWatch } from "./health-watch.ts";
import type { GrpcClient } from "./server-stream.ts";
import { reportsTooManyPings, streamBroken } from "./stream-broken.ts";
import { type StreamEnd, StreamReader } from "./stream-reader.ts";

/** The consumer is unhealthy when a message has failed this many times in a row. */
const unhealthyFailures = 3;
/** The part of a shutdown that draining may take if the caller gives less time than configured. */
const drainShare = 0.75;

export class StreamConsumer<Client extends GrpcClient, Message, Cursor = unknown> {
  readonly #options: ConsumerOptions<Client, Message, Cursor>;
  readonly #checked: CheckedOptions;
  readonly #clock: Clock;
  readonly #wait: CurrentWait;
  readonly #events = new Emitter<ConsumerEvents<Message>>((error) => warn(asError(error)));
  readonly #connection: Connection<Client>;
  readonly #deliveries: Deliveries<Message, Cursor>;
  readonly #backoff: Backoff;
  readonly #health: HealthWatch;
  /** Aborts when the drain time is over, for `onDrain`. */
  readonly #drainAbort = new AbortController();
  readonly #metadata: Metadata;
  #phase: ConsumerPhase = "idle";
  #reader: StreamReader<Message> | undefined;
  #isConnected = false;
  #isStarted = false;
  #streams = 0;
  #failure: StreamError | undefined;
  #closing: { readonly deadline: Deadline; readonly report: Promise<ShutdownReport> } | undefined;

  constructor(options: ConsumerOptions<Client, Message, Cursor>) {
    const checked = checkOptions(options);
    const random = options.random ?? systemRandom;
    this.#options = options;
    this.#checked = checked;
    this.#clock = options.clock ?? systemClock;
    this.#wait = new CurrentWait(this.#clock);
    this.#connection = new Connection(options.client, checked.keepalive, checked.maxMessageBytes);
    this.#backoff = new Backoff(checked.backOff, random);
    this.#metadata = fenceMetadata(options.fence);
    const { handle, onHandlerError = "retry", onDeadLetter, acknowledge } = options;
    this.#deliveries = new Deliveries<Message, Cursor>({
      handle: (message, call) => handle(message, this.#contextOf(call)),
      cursorOf: options.cursor,
      resumeFrom: options.resumeFrom,
      concurrency: checked.concurrency,
      decide: typeof onHandlerError === "function" ? onHandlerError : () => onHandlerError,
      maxFailures: checked.maxFailures,
      deadLetter: onDeadLetter && ((failure, call) => onDeadLetter(failure, this.#contextOf(call))),
      handlerTimeoutMs: checked.handlerTimeoutMs,
      backOff: checked.backOff,
      clock: this.#clock,
      random,
      onFailure: (failure, decision) => {
        this.#events.emit("handler-failed", { ...failure, decision });
        this.#health.review();
      },
      onRetry: () => this.#renewEndedClient(),
      onOverdue: () => this.#health.review(),
      onFinished: (message) => acknowledge && this.#reader?.write(acknowledge(message)),
      onSettled: () => this.#messageSettled(),
      onStop: (failure) => this.#handlerStopped(failure),
    });
    this.#health = new HealthWatch({
      clock: this.#clock,
      unhealthyAfterMs: checked.unhealthyAfterMs,
      acceptedAfterMs: checked.acceptedAfterMs,
      // A message on its way to the dead letters is no reason to restart the process, which would start the count again.
      unhealthyFailures: unhealthyFailures + (onDeadLetter ? checked.maxFailures : 0),
      phase: () => this.#phase,
      failures: () => this.#deliveries.failures,
      overdueMs: () => this.#deliveries.overdueMs,
      failure: () => this.#failure,
      onChange: (health) => this.#events.emit("health", health),
    });
  }

  get phase(): ConsumerPhase {
    return this.#phase;
  }

  /**
   * Unhealthy if no stream has worked for `unhealthyAfterMs`, a message fails three times in a row, a handler has not returned
   * within `handlerTimeoutMs`, or the consumer failed.
   */
  health(): StreamHealth {
    return this.#health.now();
  }

  stats(): ConsumerStats<Cursor> {
    const { inFlight, finished, skipped, deadLettered, cursor } = this.#deliveries;
    return { inFlight, finished, skipped, deadLettered, streams: this.#streams, cursor };
  }

  /** Adds a listener. The returned function removes it. */
  on<Name extends keyof ConsumerEvents<Message>>(
    name: Name,
    listener: (event: ConsumerEvents<Message>[Name]) => void,
  ): () => void {
    return this.#events.on(name, listener);
  }

  /** Resolves when the consumer is connected. Failed attempts are retried. Optional: `start` connects if necessary. */
  async connect({ timeoutMs = 30_000 }: { readonly timeoutMs?: number } = {}): Promise<void> {
    if (this.#phase !== "idle") throw this.#misused("connect");
    if (this.#isConnected) return;
    const endMs = this.#nowMs() + timeoutMs;
    this.#enter("connecting");
    for (;;) {
      const leftMs = endMs - this.#nowMs();
      try {
        await this.#wait.forConnection(
          this.#connection.renew(),
          Math.min(leftMs, this.#checked.connectTimeoutMs),
        );
        if (this.#closing) throw this.#misused("connect");
        this.#isConnected = true;
        this.#backoff.reset();
        this.#enter("idle");
        return;
      } catch (error) {
        const cause = asError(error);
        this.#connection.close();
        if (this.#closing) throw this.#misused("connect");
        const retryInMs = this.#backoff.next();
        if (this.#nowMs() + retryInMs >= endMs) {
          this.#backoff.reset();
          this.#enter("idle");
          throw new StreamError(
            "Unreachable",
            sentence(`Cannot connect to the server within ${timeoutMs} ms: ${cause.message}`),
            { cause },
          );
        }
        const broken = new StreamError("StreamBroken", sentence(`Cannot connect: ${cause.message}`), {
          cause,
        });
        this.#events.emit("broken", { error: broken, retryInMs, tries: this.#backoff.failures });
        await this.#wait.pause(retryInMs);
      }
    }
  }

  /**
   * Consumes until `shutdown` is called or the signal aborts, then resolves. Also resolves when the server ends the stream and
   * `onEnd` is "stop". Rejects if the consumer stopped because of a failure. The shutdown is complete when it settles.
   */
  async start({ signal }: { readonly signal?: AbortSignal } = {}): Promise<void> {
    if (this.#isStarted || this.#phase !== "idle") throw this.#misused("start");
    this.#isStarted = true;
    if (signal?.aborted) void this.shutdown();
    const offAbort = signal && onAbort(signal, () => void this.shutdown());
    try {
      await this.#consume();
    } finally {
      offAbort?.();
      await this.shutdown();
    }
    if (this.#failure) throw this.#failure;
  }

  /**
   * Takes no more messages, finishes those in flight, ends the stream, closes the connection. Always resolves within the time
   * limit, with a report. Another call can only shorten the time; 0 ends everything at once.
   */
  shutdown(timeoutMs = this.#checked.shutdownTimeoutMs): Promise<ShutdownReport> {
    const drainMs = Math.max(0, Math.min(this.#checked.drainTimeoutMs, timeoutMs * drainShare));
    if (this.#closing) {
      this.#closing.deadline.shorten(drainMs);
      return this.#closing.report;
    }
    // At once: the caller may be a handler that is about to make room for another message.
    this.#reader?.stop();
    const deadline = new Deadline(this.#clock, drainMs);
    const report = this.#close(deadline);
    this.#closing = { deadline, report };
    return report;
  }

  async #close(deadline: Deadline): Promise<ShutdownReport> {
    // Callbacks from here need #closing to be set.
    await undefined;
    this.#enter("draining");
    this.#wait.interrupt();
    const { onDrain, acknowledge } = this.#options;
    const { signal } = this.#drainAbort;
    const report = await drainAndClose({
      deliveries: this.#deliveries,
      reader: this.#reader,
      deadline,
      onDrain: onDrain && (() => onDrain(this.#contextOf({ signal }).withCursor(this.#deliveries.cursor))),
      isAcknowledged: acknowledge !== undefined,
      closeConnection: () => this.#connection.close(),
    });
    this.#drainAbort.abort(new StreamError("Misused", "The drain time is over."));
    this.#enter("closed");
    this.#health.close();
    this.#events.emit("closed", report);
    return report;
  }

  async #consume(): Promise<void> {
    while (!this.#closing) {
      const finishedBefore = this.#deliveries.finished;
      const { error, openMs } = await this.#consumeStream();
      // The old stream delivered the messages in flight. The cursor is exact only when they are settled.
      if (!this.#closing) await this.#deliveries.whenIdle();
      if (this.#closing) return;
      // A failed channel would keep retrying by itself.
      this.#connection.close();
      if (!error && (this.#options.onEnd ?? "reconnect") === "stop") return;
      if (reportsTooManyPings(error)) this.#connection.halvePings();
      const broken = streamBroken(error, this.#checked.maxMessageBytes);
      this.#health.broke(broken);
      if (broken.status !== undefined && this.#options.stopOn?.includes(broken.status)) {
        this.#failure = new StreamError("Refused", `The server refused the stream: ${broken.message}`, {
          cause: broken,
          status: broken.status,
        });
        return;
      }
      this.#reader = undefined;
      const hasWorked = this.#deliveries.finished > finishedBefore || openMs >= this.#checked.stableMs;
      if (hasWorked) this.#backoff.reset();
      const retryInMs = this.#backoff.next();
      this.#enter("waiting");
      this.#events.emit("broken", { error: broken, retryInMs, tries: this.#backoff.failures });
      await this.#wait.pause(retryInMs);
    }
  }

  /** Opens one stream and waits for its end. */
  async #consumeStream(): Promise<StreamEnd & { readonly openMs: number }> {
    const isConnected = this.#isConnected;
    this.#isConnected = false;
    this.#enter("connecting");
    let openedMs: number | undefined;
    let reader: StreamReader<Message>;
    try {
      const current = isConnected ? this.#connection.client : undefined;
      const client = current ?? this.#connection.renew();
      const metadata = this.#metadata;
      const stream = this.#options.open(client, { cursor: this.#deliveries.cursor, metadata });
      this.#streams++;
      reader = new StreamReader(stream, this.#deliveries, {
        onAccepted: () => this.#health.accepted(),
        onMessage: () => this.#health.messageArrived(),
        onOver: () => this.#health.streamOver(),
      });
      this.#reader = reader;
      this.#wait.forConnection(client, this.#checked.connectTimeoutMs).then(
        () => {
          if (reader.isEnded || this.#closing) return;
          openedMs = this.#nowMs();
          this.#enter("streaming");
        },
        (error) => reader.cancel(error),
      );
    } catch (thrown) {
      return { error: asError(thrown), openMs: 0 };
    }
    const end = await reader.ended;
    this.#wait.interrupt();
    return { ...end, openMs: openedMs === undefined ? 0 : this.#nowMs() - openedMs };
  }

  #messageSettled(): void {
    this.#reader?.pump();
    this.#health.messageSettled();
  }

  #handlerStopped({ error }: HandlerFailure<Message>): void {
    this.#failure ??= new StreamError(
      "HandlerFailed",
      sentence(`The consumer stopped because its handler threw: ${error.message}`),
      { cause: error },
    );
    void this.shutdown();
  }

  #nowMs(): number {
    return this.#clock.now().monoMs;
  }

  #enter(phase: ConsumerPhase): void {
    if (this.#phase === phase || this.#phase === "closed") return;
    // During a shutdown, only these two phases follow.
    if (this.#closing && phase !== "draining" && phase !== "closed") return;
    this.#phase = phase;
    this.#events.emit("phase", { phase });
    this.#health.phaseChanged();
  }

  #misused(call: string): StreamError {
    const state = this.#closing ? "it was shut down" : `it is ${this.#phase}`;
    return new StreamError("Misused", `Cannot ${call} the consumer because ${state}. Create a new one.`);
  }

  #contextOf(call: { readonly signal: AbortSignal }): CurrentContext<Client> {
    return new CurrentContext(this.#connection, this.#metadata, call);
  }

  /**
   * A handler that retries after its stream has ended keeps the next stream from opening, so it must not depend on it: it gets a
   * new client, which has read the current certificates.
   */
  #renewEndedClient(): void {
    if (this.#reader?.isOver && !this.#closing) this.#connection.renew();
  }
}
