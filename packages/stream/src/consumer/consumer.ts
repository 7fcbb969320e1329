/**
 * Consumes a gRPC server stream: connects, passes each message to the handler, reconnects when the stream breaks and resumes
 * after the last finished message, and shuts down without leaving a message half done.
 *
 * At most `concurrency` messages are in flight. The cursor never moves past an unfinished message. A new stream is opened only
 * when all messages of the old one are settled, so that a reconnect by itself processes no message twice.
 * It does not guarantee exactly-once: messages in flight at a crash are delivered again. The fencing token in the metadata lets
 * the service reject a worker that has lost leadership.
 */
import {
  after,
  asError,
  Backoff,
  type Clock,
  Emitter,
  onAbort,
  systemClock,
  systemRandom,
  warn,
} from "@tenure/base";
import { fenceMetadata } from "../access/fence.ts";
import { StreamError } from "../errors.ts";
import type { ConsumerEvents, ConsumerPhase, ShutdownReport, StreamHealth } from "../events.ts";
import { type CheckedOptions, type ConsumerOptions, checkOptions, type HandlerContext } from "../options.ts";
import { Connection } from "./connection.ts";
import { Deadline } from "./deadline.ts";
import { Deliveries, type HandlerFailure } from "./deliveries.ts";
import { drainAndClose } from "./drain-and-close.ts";
import { HealthWatch } from "./health-watch.ts";
import type { GrpcClient } from "./server-stream.ts";
import { reportsTooManyPings, streamBroken } from "./stream-broken.ts";
import { type StreamEnd, StreamReader } from "./stream-reader.ts";
import { waitForReady } from "./wait-for-ready.ts";

/** The part of a shutdown that draining may take if the caller gives less time than configured. */
const drainShare = 0.75;

export interface ConsumerStats<Cursor> {
  readonly inFlight: number;
  /** Includes skipped messages. */
  readonly finished: number;
  readonly skipped: number;
  /** How many streams were opened. */
  readonly streams: number;
  /** The cursor of the last message that is finished together with all messages before it. */
  readonly cursor: Cursor | undefined;
}

export class StreamConsumer<Client extends GrpcClient, Message, Cursor = unknown> {
  readonly #options: ConsumerOptions<Client, Message, Cursor>;
  readonly #checked: CheckedOptions;
  readonly #clock: Clock;
  readonly #events = new Emitter<ConsumerEvents<Message>>((error) => warn(asError(error)));
  readonly #connection: Connection<Client>;
  readonly #deliveries: Deliveries<Message, Cursor>;
  readonly #backoff: Backoff;
  readonly #health: HealthWatch;
  readonly #handlersAbort = new AbortController();
  readonly #context: HandlerContext<Client>;
  #phase: ConsumerPhase = "idle";
  #reader: StreamReader<Message> | undefined;
  #isConnected = false;
  #isStarted = false;
  #streams = 0;
  #failure: StreamError | undefined;
  /** Ends the current wait for a connection or a back-off. */
  #interrupt: () => void = () => {};
  #closing: { readonly deadline: Deadline; readonly report: Promise<ShutdownReport> } | undefined;

  constructor(options: ConsumerOptions<Client, Message, Cursor>) {
    const checked = checkOptions(options);
    const random = options.random ?? systemRandom;
    this.#options = options;
    this.#checked = checked;
    this.#clock = options.clock ?? systemClock;
    this.#connection = new Connection(options.client, checked.keepalive);
    this.#backoff = new Backoff(checked.backOff, random);
    this.#context = this.#newContext();
    const { handle, onHandlerError = "retry" } = options;
    this.#deliveries = new Deliveries<Message, Cursor>({
      handle: (message) => handle(message, this.#context),
      cursorOf: options.cursor,
      resumeFrom: options.resumeFrom,
      concurrency: checked.concurrency,
      decide: typeof onHandlerError === "function" ? onHandlerError : () => onHandlerError,
      backOff: checked.backOff,
      clock: this.#clock,
      random,
      onFailure: (failure, decision) => {
        this.#events.emit("handler-failed", { ...failure, decision });
        this.#health.review();
      },
      onSettled: () => this.#messageSettled(),
      onStop: (failure) => this.#handlerStopped(failure),
    });
    this.#health = new HealthWatch({
      clock: this.#clock,
      unhealthyAfterMs: checked.unhealthyAfterMs,
      phase: () => this.#phase,
      failures: () => this.#deliveries.failures,
      failure: () => this.#failure,
      onChange: (health) => this.#events.emit("health", health),
    });
  }

  get phase(): ConsumerPhase {
    return this.#phase;
  }

  /** Unhealthy if the stream is down for `unhealthyAfterMs`, a message fails three times in a row, or the consumer failed. */
  health(): StreamHealth {
    return this.#health.now();
  }

  stats(): ConsumerStats<Cursor> {
    const { inFlight, finished, skipped, cursor } = this.#deliveries;
    return { inFlight, finished, skipped, streams: this.#streams, cursor };
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
        await this.#waitForReady(this.#connection.renew(), Math.min(leftMs, this.#checked.connectTimeoutMs));
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
            `Cannot connect to the server within ${timeoutMs} ms: ${cause.message}.`,
            { cause },
          );
        }
        const broken = new StreamError("StreamBroken", `Cannot connect: ${cause.message}.`, { cause });
        this.#events.emit("broken", { error: broken, retryInMs, tries: this.#backoff.failures });
        await this.#pause(retryInMs);
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
    this.#interrupt();
    const { onDrain } = this.#options;
    const report = await drainAndClose({
      deliveries: this.#deliveries,
      reader: this.#reader,
      deadline,
      onDrain: onDrain && (() => onDrain({ ...this.#currentContext(), cursor: this.#deliveries.cursor })),
      abortHandlers: () => this.#handlersAbort.abort(new StreamError("Misused", "The drain time is over.")),
      closeConnection: () => this.#connection.close(),
    });
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
      const broken = streamBroken(error);
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
      await this.#pause(retryInMs);
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
      const { metadata } = this.#context;
      const stream = this.#options.open(client, { cursor: this.#deliveries.cursor, metadata });
      this.#streams++;
      reader = new StreamReader(stream, this.#deliveries);
      this.#reader = reader;
      this.#waitForReady(client, this.#checked.connectTimeoutMs).then(
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
    this.#interrupt();
    return { ...end, openMs: openedMs === undefined ? 0 : this.#nowMs() - openedMs };
  }

  async #waitForReady(client: Client, timeoutMs: number): Promise<void> {
    const wait = waitForReady(client, this.#clock, timeoutMs);
    this.#interrupt = () => wait.cancel();
    await wait.done;
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const cancel = after(this.#clock, ms, resolve);
      this.#interrupt = () => {
        cancel();
        resolve();
      };
    });
  }

  #messageSettled(): void {
    this.#reader?.pump();
    this.#health.messageSettled();
  }

  #handlerStopped({ error }: HandlerFailure<Message>): void {
    this.#failure ??= new StreamError(
      "HandlerFailed",
      `The consumer stopped because its handler threw: ${error.message}`,
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
    this.#health.review();
  }

  #misused(call: string): StreamError {
    const state = this.#closing ? "it was shut down" : `it is ${this.#phase}`;
    return new StreamError("Misused", `Cannot ${call} the consumer because ${state}. Create a new one.`);
  }

  #newContext(): HandlerContext<Client> {
    const connection = this.#connection;
    return {
      get client(): Client {
        if (connection.client) return connection.client;
        throw new StreamError("Misused", "There is no client, because the consumer was shut down.");
      },
      metadata: fenceMetadata(this.#options.fence),
      signal: this.#handlersAbort.signal,
    };
  }

  #currentContext(): HandlerContext<Client> {
    const { client, metadata, signal } = this.#context;
    return { client, metadata, signal };
  }
}
