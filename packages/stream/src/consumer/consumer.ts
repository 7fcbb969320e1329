/**
 * Consumes a gRPC server stream: connects, hands each message to the handler, reconnects when the stream breaks and goes on
 * behind the last finished message, and shuts down without leaving a message half done.
 *
 * Guarantees: at most `concurrency` messages are in flight; the cursor never moves over an unfinished one; a new stream is opened
 * only when everything of the old one is settled, so that a reconnect by itself processes nothing twice.
 * Does not promise exactly once: what was in flight at a crash is delivered again. The token in the metadata lets the service
 * refuse whoever lost the right to work meanwhile.
 */
import { fenceMetadata } from "../access/fence.ts";
import { Emitter } from "../emitter.ts";
import { asError, StreamError } from "../errors.ts";
import type { ConsumerEvents, Health, Phase, ShutdownReport } from "../events.ts";
import { type CheckedOptions, type ConsumerOptions, checkOptions, type HandlerContext } from "../options.ts";
import { type Clock, systemClock, systemRandom } from "../platform.ts";
import { BackOff } from "./back-off.ts";
import { close } from "./closing.ts";
import { Connection } from "./connection.ts";
import { Deadline } from "./deadline.ts";
import { Deliveries, type HandlerFailure } from "./deliveries.ts";
import { HealthWatch } from "./health-watch.ts";
import { reach } from "./reach.ts";
import { Reading, type StreamEnd } from "./reading.ts";
import type { GrpcClient } from "./server-stream.ts";
import { brokenBy, complainsOfPings } from "./status.ts";

/** The part of a shutdown that may be spent on draining, where less time is given than usual. */
const drainShare = 0.75;

export interface Stats<Cursor> {
  readonly inFlight: number;
  /** Skipped ones included. */
  readonly finished: number;
  readonly skipped: number;
  /** How often a stream was opened. */
  readonly streams: number;
  /** Of the last message that is finished together with all before it. */
  readonly cursor: Cursor | undefined;
}

export class StreamConsumer<Client extends GrpcClient, Message, Cursor = unknown> {
  readonly #options: ConsumerOptions<Client, Message, Cursor>;
  readonly #checked: CheckedOptions;
  readonly #clock: Clock;
  readonly #events = new Emitter<ConsumerEvents<Message>>();
  readonly #connection: Connection<Client>;
  readonly #deliveries: Deliveries<Message, Cursor>;
  readonly #backOff: BackOff;
  readonly #health: HealthWatch;
  readonly #giveUp = new AbortController();
  readonly #context: HandlerContext<Client>;
  #phase: Phase = "idle";
  #reading: Reading<Message> | undefined;
  #isConnected = false;
  #isStarted = false;
  #streams = 0;
  #failure: StreamError | undefined;
  /** Ends what the consumer waits for at the moment: a connection or the back-off. */
  #interrupt: () => void = () => {};
  #closing: { readonly deadline: Deadline; readonly report: Promise<ShutdownReport> } | undefined;

  constructor(options: ConsumerOptions<Client, Message, Cursor>) {
    const checked = checkOptions(options);
    const random = options.random ?? systemRandom;
    this.#options = options;
    this.#checked = checked;
    this.#clock = options.clock ?? systemClock;
    this.#connection = new Connection(options.client, checked.keepalive);
    this.#backOff = new BackOff(checked.backOff, random);
    this.#context = this.#makeContext();
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
      onSettled: () => this.#settled(),
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

  get phase(): Phase {
    return this.#phase;
  }

  /** Healthy: it does its work, or is about to. A stream that is down for `unhealthyAfterMs`, and a message that fails again
   * and again, are not. */
  health(): Health {
    return this.#health.now();
  }

  stats(): Stats<Cursor> {
    const { inFlight, finished, skipped, cursor } = this.#deliveries;
    return { inFlight, finished, skipped, streams: this.#streams, cursor };
  }

  /** Listens. The result ends it. */
  on<Name extends keyof ConsumerEvents<Message>>(
    name: Name,
    listener: (event: ConsumerEvents<Message>[Name]) => void,
  ): () => void {
    return this.#events.on(name, listener);
  }

  /** Resolves when the connection stands; tries again by the back-off until then. `start` connects by itself if need be. */
  async connect({ timeoutMs = 30_000 }: { readonly timeoutMs?: number } = {}): Promise<void> {
    if (this.#phase !== "idle") throw this.#misused("connect");
    if (this.#isConnected) return;
    const endMs = this.#clock.nowMs() + timeoutMs;
    this.#enter("connecting");
    for (;;) {
      const leftMs = endMs - this.#clock.nowMs();
      try {
        await this.#reach(this.#connection.renew(), Math.min(leftMs, this.#checked.connectTimeoutMs));
        if (this.#closing) throw this.#misused("connect");
        this.#isConnected = true;
        this.#backOff.reset();
        this.#enter("idle");
        return;
      } catch (error) {
        const cause = asError(error);
        this.#connection.close();
        if (this.#closing) throw this.#misused("connect");
        const retryInMs = this.#backOff.next();
        if (this.#clock.nowMs() + retryInMs >= endMs) {
          this.#backOff.reset();
          this.#enter("idle");
          throw new StreamError(
            "Unreachable",
            `Cannot reach the server within ${timeoutMs} ms: ${cause.message}.`,
            { cause },
          );
        }
        const broken = new StreamError("StreamBroken", `Cannot connect: ${cause.message}.`, { cause });
        this.#events.emit("broken", { error: broken, retryInMs, tries: this.#backOff.tries });
        await this.#pause(retryInMs);
      }
    }
  }

  /**
   * Consumes until it is shut down, by `shutdown` or by the signal: then it resolves. Also resolves when the server ended the
   * stream and `onEnd` is "stop". Rejects when it stopped by a failure; what was in flight has settled by then.
   */
  async start({ signal }: { readonly signal?: AbortSignal } = {}): Promise<void> {
    if (this.#isStarted || this.#phase !== "idle") throw this.#misused("start");
    this.#isStarted = true;
    const onAbort = () => void this.shutdown();
    if (signal?.aborted) onAbort();
    signal?.addEventListener("abort", onAbort, { once: true });
    try {
      await this.#serve();
    } finally {
      signal?.removeEventListener("abort", onAbort);
      await this.shutdown();
    }
    if (this.#failure) throw this.#failure;
  }

  /**
   * Takes no more messages, finishes those in flight, ends the stream, closes the connection. Always resolves in time and says how
   * it went. Called again, it only shortens the time; 0 ends everything at once.
   */
  shutdown(timeoutMs = this.#checked.shutdownTimeoutMs): Promise<ShutdownReport> {
    const drainMs = Math.max(0, Math.min(this.#checked.drainTimeoutMs, timeoutMs * drainShare));
    if (this.#closing) {
      this.#closing.deadline.hasten(drainMs);
      return this.#closing.report;
    }
    // At once: whoever calls may be a handler that is about to make room for another message.
    this.#reading?.hold();
    const deadline = new Deadline(this.#clock, drainMs);
    const report = this.#close(deadline);
    this.#closing = { deadline, report };
    return report;
  }

  async #close(deadline: Deadline): Promise<ShutdownReport> {
    // What is called back from here must find #closing set.
    await undefined;
    this.#enter("draining");
    this.#interrupt();
    const { onDrain } = this.#options;
    const report = await close({
      deliveries: this.#deliveries,
      reading: this.#reading,
      deadline,
      onDrain: onDrain && (() => onDrain({ ...this.#contextNow(), cursor: this.#deliveries.cursor })),
      giveUp: () => this.#giveUp.abort(new StreamError("Misused", "The drain time is over.")),
      closeConnection: () => this.#connection.close(),
    });
    this.#enter("closed");
    this.#health.close();
    this.#events.emit("closed", report);
    return report;
  }

  async #serve(): Promise<void> {
    while (!this.#closing) {
      const finishedBefore = this.#deliveries.finished;
      const { error, openMs } = await this.#serveOnce();
      // Whatever is in flight was delivered by the old stream; the cursor is exact only when it has settled.
      if (!this.#closing) await this.#deliveries.idle();
      if (this.#closing) return;
      // Nobody needs it any more, and a channel that failed would go on trying by itself.
      this.#connection.close();
      if (!error && (this.#options.onEnd ?? "reconnect") === "stop") return;
      if (complainsOfPings(error)) this.#connection.calm();
      const broken = brokenBy(error);
      if (broken.status !== undefined && this.#options.stopOn?.includes(broken.status)) {
        this.#failure = new StreamError("Refused", `The server refused the stream: ${broken.message}`, {
          cause: broken,
          status: broken.status,
        });
        return;
      }
      this.#reading = undefined;
      if (this.#deliveries.finished > finishedBefore || openMs >= this.#checked.stableMs)
        this.#backOff.reset();
      const retryInMs = this.#backOff.next();
      this.#enter("waiting");
      this.#events.emit("broken", { error: broken, retryInMs, tries: this.#backOff.tries });
      await this.#pause(retryInMs);
    }
  }

  /** One stream, from its opening to its end. */
  async #serveOnce(): Promise<StreamEnd & { readonly openMs: number }> {
    const isConnected = this.#isConnected;
    this.#isConnected = false;
    this.#enter("connecting");
    let openedMs: number | undefined;
    let reading: Reading<Message>;
    try {
      const current = isConnected ? this.#connection.client : undefined;
      const client = current ?? this.#connection.renew();
      const { metadata } = this.#context;
      const stream = this.#options.open(client, { cursor: this.#deliveries.cursor, metadata });
      this.#streams++;
      reading = new Reading(stream, this.#deliveries);
      this.#reading = reading;
      this.#reach(client, this.#checked.connectTimeoutMs).then(
        () => {
          if (reading.isEnded || this.#closing) return;
          openedMs = this.#clock.nowMs();
          this.#enter("streaming");
        },
        (error) => reading.cancel(error),
      );
    } catch (thrown) {
      return { error: asError(thrown), openMs: 0 };
    }
    const end = await reading.ended;
    this.#interrupt();
    return { ...end, openMs: openedMs === undefined ? 0 : this.#clock.nowMs() - openedMs };
  }

  async #reach(client: Client, timeoutMs: number): Promise<void> {
    const reaching = reach(client, this.#clock, timeoutMs);
    this.#interrupt = () => reaching.cancel();
    await reaching.done;
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const cancel = this.#clock.after(ms, resolve);
      this.#interrupt = () => {
        cancel();
        resolve();
      };
    });
  }

  #settled(): void {
    this.#reading?.pump();
    this.#health.recovered();
  }

  #handlerStopped({ error }: HandlerFailure<Message>): void {
    this.#failure ??= new StreamError(
      "HandlerFailed",
      `The consumer stopped as its handler threw: ${error.message}`,
      { cause: error },
    );
    void this.shutdown();
  }

  #enter(phase: Phase): void {
    if (this.#phase === phase || this.#phase === "closed") return;
    // While it closes, whatever else ends has nothing to say.
    if (this.#closing && phase !== "draining" && phase !== "closed") return;
    this.#phase = phase;
    this.#events.emit("phase", { phase });
    this.#health.review();
  }

  #misused(call: string): StreamError {
    const state = this.#closing ? "it was shut down" : `it is ${this.#phase}`;
    return new StreamError("Misused", `Cannot ${call} the consumer as ${state}: make a new one.`);
  }

  #makeContext(): HandlerContext<Client> {
    const connection = this.#connection;
    return {
      get client(): Client {
        if (connection.client) return connection.client;
        throw new StreamError("Misused", "There is no client any more as the consumer was shut down.");
      },
      metadata: fenceMetadata(this.#options.fence),
      signal: this.#giveUp.signal,
    };
  }

  #contextNow(): HandlerContext<Client> {
    const { client, metadata, signal } = this.#context;
    return { client, metadata, signal };
  }
}
