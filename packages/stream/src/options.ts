/** The options of a consumer and their validation, which reports every problem in one error. */
import type { Metadata } from "@grpc/grpc-js";
import type { BackoffPolicy, Clock } from "@tenure/base";
import type { Fence } from "./access/fence.ts";
import type { Decision, HandlerFailure } from "./consumer/deliveries.ts";
import type { ChannelOptions, GrpcClient, ServerStream } from "./consumer/server-stream.ts";
import { StreamError } from "./errors.ts";

/** Waits that double after every failure. */
export interface BackOffOptions {
  /** The first wait. @default 1000 */
  readonly firstMs?: number;
  /** The longest wait. @default 30000 */
  readonly mostMs?: number;
  /** The part of each wait that is random, from 0 to 1. Waits only get shorter by it. @default 0.2 */
  readonly jitter?: number;
}

export interface OpenCall<Cursor> {
  /** The cursor of the last finished message, after which the stream continues. Undefined at first, and without `cursor`. */
  readonly cursor: Cursor | undefined;
  /** Contains the fencing token and the identity. */
  readonly metadata: Metadata;
}

export interface HandlerContext<Client> {
  /** The client of the current connection, for calls about the message. */
  readonly client: Client;
  /** Contains the fencing token and the identity, for calls about the message. Clone it before you add to it. */
  readonly metadata: Metadata;
  /** Aborts when the handler has run for `handlerTimeoutMs`, and when the drain time is over and nobody waits for it any more. */
  readonly signal: AbortSignal;
}

export interface DrainCall<Client, Cursor> extends HandlerContext<Client> {
  /** The cursor of the last finished message. */
  readonly cursor: Cursor | undefined;
}

export interface ConsumerOptions<Client extends GrpcClient, Message, Cursor> {
  /**
   * Creates a client of your service. Called for every connection, with channel options that turn on keepalive:
   * `(channelOptions) => new OrdersClient("orders:50051", credentials, channelOptions)`.
   */
  readonly client: (channelOptions: ChannelOptions) => Client;
  /** Opens the stream: `(client, { cursor, metadata }) => client.subscribe({ after: cursor }, metadata)`. */
  readonly open: (client: Client, call: OpenCall<Cursor>) => ServerStream<Message>;
  /** Processes one message. The message is finished when this returns, or when the returned promise resolves. */
  readonly handle: (message: Message, context: HandlerContext<Client>) => unknown;
  /** The position of a message in the stream, if the service can resume from there. @default none: it cannot */
  readonly cursor?: (message: Message) => Cursor;
  /** The cursor to start from, for example that of the last run. @default none */
  readonly resumeFrom?: Cursor;
  /** How many messages may be in flight. With 1, messages are processed strictly in order. @default 1 */
  readonly concurrency?: number;
  /**
   * What to do when the handler throws. "retry" retries the message after a back-off, without limit. "skip" counts it as
   * finished. "stop" stops the consumer, so that its supervisor sees the failure. A function can decide. @default "retry"
   */
  readonly onHandlerError?: Decision | ((failure: HandlerFailure<Message>) => Decision);
  /**
   * How many times the handler may throw for one message before the message is a dead letter. Without `onDeadLetter` the consumer
   * then stops. @default 5 with `onDeadLetter`; without it there is no limit
   */
  readonly maxFailures?: number;
  /**
   * Puts a message aside that the handler cannot process, for example into a table. When it returns, the message counts as
   * finished, and the stream goes on. If it throws, it gets the message again, by the back-off: no message is lost.
   * @default none
   */
  readonly onDeadLetter?: (failure: HandlerFailure<Message>, context: HandlerContext<Client>) => unknown;
  /**
   * How long the handler may take for one message. After that its `signal` aborts, and the consumer is unhealthy until the handler
   * returns. The message is not processed again before that. Infinity for no limit. @default 600000
   */
  readonly handlerTimeoutMs?: number;
  /**
   * For a bidirectional stream: the request that tells the server that a message is finished. It is sent after the handler has
   * returned. At a shutdown the consumer ends its side of the stream after the last one. @default none
   */
  readonly acknowledge?: (message: Message) => unknown;
  /** What to do when the server ends the stream with status OK. @default "reconnect" */
  readonly onEnd?: "reconnect" | "stop";
  /** gRPC statuses after which the consumer stops instead of reconnecting, for example FAILED_PRECONDITION. @default [] */
  readonly stopOn?: readonly number[];
  /**
   * Asks the service to end the stream when all messages in flight are finished, so that the server ends it with status OK.
   * The consumer waits for that within the drain time. Without `onDrain` the stream is cancelled. @default none
   */
  readonly onDrain?: (call: DrainCall<Client, Cursor>) => unknown;
  /** How long a shutdown waits for messages in flight and for the server to end the stream. @default 15000 */
  readonly drainTimeoutMs?: number;
  /** The time limit of a shutdown. @default 20000 */
  readonly shutdownTimeoutMs?: number;
  /** The time limit of one attempt to connect. @default 10000 */
  readonly connectTimeoutMs?: number;
  /** The wait between attempts to connect, and between attempts of a message. @default 1, 2, 4, 8 … 30 s, up to 20 % less */
  readonly backOff?: BackOffOptions;
  /** A stream that was open for this long resets the back-off, even without a finished message. @default 60000 */
  readonly stableMs?: number;
  /** How long the consumer may be without a stream that works before it is unhealthy. @default 60000 */
  readonly unhealthyAfterMs?: number;
  /**
   * A stream works when a message has arrived, or when it has been open for this long: a server need not answer before its first
   * message. Until then the consumer is not ready. @default 2000
   */
  readonly acceptedAfterMs?: number;
  /** The size of the largest message that the consumer accepts. @default 4194304, as in gRPC */
  readonly maxMessageBytes?: number;
  /** Pings that detect a dead peer: the interval, and the time limit of the response. @default 20 s, 5 s */
  readonly keepalive?: { readonly everyMs?: number; readonly timeoutMs?: number };
  /** The values in the metadata of every call. @default $TENURE_TOKEN, $TENURE_IDENTITY, $TENURE_ELECTION */
  readonly fence?: Fence;
  /** For tests. @default the machine's clock */
  readonly clock?: Clock;
  /** Returns a number in [0, 1). For tests. @default Math.random */
  readonly random?: () => number;
}

const defaults = {
  concurrency: 1,
  drainTimeoutMs: 15_000,
  shutdownTimeoutMs: 20_000,
  connectTimeoutMs: 10_000,
  stableMs: 60_000,
  unhealthyAfterMs: 60_000,
  acceptedAfterMs: 2_000,
  handlerTimeoutMs: 600_000,
  maxMessageBytes: 4 * 1024 * 1024,
  maxFailuresWithDeadLetters: 5,
} as const;

export interface CheckedOptions {
  readonly concurrency: number;
  readonly drainTimeoutMs: number;
  readonly shutdownTimeoutMs: number;
  readonly connectTimeoutMs: number;
  readonly stableMs: number;
  readonly unhealthyAfterMs: number;
  readonly acceptedAfterMs: number;
  readonly handlerTimeoutMs: number;
  readonly maxMessageBytes: number;
  readonly maxFailures: number;
  readonly keepalive: { readonly everyMs: number; readonly timeoutMs: number };
  readonly backOff: BackoffPolicy;
}

export function checkOptions<Client extends GrpcClient, Message, Cursor>(
  options: ConsumerOptions<Client, Message, Cursor>,
): CheckedOptions {
  const checked: CheckedOptions = {
    concurrency: options.concurrency ?? defaults.concurrency,
    drainTimeoutMs: options.drainTimeoutMs ?? defaults.drainTimeoutMs,
    shutdownTimeoutMs: options.shutdownTimeoutMs ?? defaults.shutdownTimeoutMs,
    connectTimeoutMs: options.connectTimeoutMs ?? defaults.connectTimeoutMs,
    stableMs: options.stableMs ?? defaults.stableMs,
    unhealthyAfterMs: options.unhealthyAfterMs ?? defaults.unhealthyAfterMs,
    acceptedAfterMs: options.acceptedAfterMs ?? defaults.acceptedAfterMs,
    handlerTimeoutMs: options.handlerTimeoutMs ?? defaults.handlerTimeoutMs,
    maxMessageBytes: options.maxMessageBytes ?? defaults.maxMessageBytes,
    maxFailures:
      options.maxFailures ??
      (options.onDeadLetter ? defaults.maxFailuresWithDeadLetters : Number.POSITIVE_INFINITY),
    keepalive: { everyMs: 20_000, timeoutMs: 5_000, ...options.keepalive },
    backOff: { firstMs: 1_000, mostMs: 30_000, jitter: 0.2, ...options.backOff },
  };
  const problems = [
    ...functionProblems(options as unknown as Record<string, unknown>),
    ...numberProblems(checked),
    ...choiceProblems(options),
  ];
  if (problems.length > 0) {
    throw new StreamError("InvalidOptions", `Cannot create the consumer: ${problems.join("; ")}.`);
  }
  return checked;
}

function functionProblems(options: Record<string, unknown>): string[] {
  const needed = ["client", "open", "handle"].filter((name) => typeof options[name] !== "function");
  const wrong = ["cursor", "onDrain", "onDeadLetter", "acknowledge"].filter(
    (name) => options[name] !== undefined && typeof options[name] !== "function",
  );
  return [...needed, ...wrong].map((name) => `${name} must be a function: ${typeof options[name]}`);
}

function numberProblems(checked: CheckedOptions): string[] {
  const problems: string[] = [];
  const { concurrency, drainTimeoutMs, shutdownTimeoutMs, backOff, keepalive } = checked;
  const { maxFailures, maxMessageBytes } = checked;
  for (const [name, value] of Object.entries({ concurrency, maxFailures, maxMessageBytes })) {
    const isUnlimited = name === "maxFailures" && value === Number.POSITIVE_INFINITY;
    if (!isUnlimited && (!Number.isInteger(value) || value < 1))
      problems.push(`${name} must be a whole number of at least 1: ${value}`);
  }
  const lengths = {
    drainTimeoutMs,
    shutdownTimeoutMs,
    connectTimeoutMs: checked.connectTimeoutMs,
    stableMs: checked.stableMs,
    unhealthyAfterMs: checked.unhealthyAfterMs,
    acceptedAfterMs: checked.acceptedAfterMs,
    handlerTimeoutMs: checked.handlerTimeoutMs,
    "keepalive.everyMs": keepalive.everyMs,
    "keepalive.timeoutMs": keepalive.timeoutMs,
    "backOff.firstMs": backOff.firstMs,
    "backOff.mostMs": backOff.mostMs,
  };
  for (const [name, value] of Object.entries(lengths)) {
    if (!(value > 0)) problems.push(`${name} must be more than 0: ${value}`);
  }
  if (!(backOff.jitter >= 0 && backOff.jitter <= 1)) {
    problems.push(`backOff.jitter must be from 0 to 1: ${backOff.jitter}`);
  }
  if (drainTimeoutMs >= shutdownTimeoutMs) {
    problems.push(
      `drainTimeoutMs must be less than shutdownTimeoutMs, or there is no time left to close: ${drainTimeoutMs} >= ${shutdownTimeoutMs}`,
    );
  }
  return problems;
}

function choiceProblems(options: {
  onHandlerError?: unknown;
  onEnd?: unknown;
  onDeadLetter?: unknown;
}): string[] {
  const problems: string[] = [];
  const { onHandlerError = "retry", onEnd = "reconnect", onDeadLetter } = options;
  const decisions = ["retry", "skip", "stop", "dead-letter"];
  if (typeof onHandlerError !== "function" && !decisions.includes(String(onHandlerError))) {
    problems.push(
      `onHandlerError must be "retry", "skip", "stop", "dead-letter" or a function: ${JSON.stringify(onHandlerError)}`,
    );
  }
  if (onHandlerError === "dead-letter" && onDeadLetter === undefined)
    problems.push('onHandlerError "dead-letter" requires onDeadLetter');
  if (!["reconnect", "stop"].includes(String(onEnd))) {
    problems.push(`onEnd must be "reconnect" or "stop": ${JSON.stringify(onEnd)}`);
  }
  return problems;
}
