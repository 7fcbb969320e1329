/** What a consumer is set up with, and its check: every problem is named at once, before anything is opened. */
import type { Metadata } from "@grpc/grpc-js";
import type { Fence } from "./access/fence.ts";
import { type BackOffOptions, defaultBackOff } from "./consumer/back-off.ts";
import type { Decision, HandlerFailure } from "./consumer/deliveries.ts";
import type { ChannelOptions, GrpcClient, ServerStream } from "./consumer/server-stream.ts";
import { StreamError } from "./errors.ts";
import type { Clock } from "./platform.ts";

export interface OpenCall<Cursor> {
  /** Of the last finished message: the stream should go on behind it. Undefined at the beginning, and without `cursor`. */
  readonly cursor: Cursor | undefined;
  /** Carries the fencing token and the identity. */
  readonly metadata: Metadata;
}

export interface HandlerContext<Client> {
  /** The client of the connection that stands now, for calls about the message. */
  readonly client: Client;
  /** Carries the fencing token and the identity, for calls about the message. Clone it before you add to it. */
  readonly metadata: Metadata;
  /** Aborts when the drain time is over: nobody waits for this handler any longer. */
  readonly signal: AbortSignal;
}

export interface DrainCall<Client, Cursor> extends HandlerContext<Client> {
  /** Of the last finished message. */
  readonly cursor: Cursor | undefined;
}

export interface ConsumerOptions<Client extends GrpcClient, Message, Cursor> {
  /**
   * Makes a client of your service. Called anew for every connection, with options that switch keepalive on:
   * `(channelOptions) => new OrdersClient("orders:50051", credentials, channelOptions)`.
   */
  readonly client: (channelOptions: ChannelOptions) => Client;
  /** Opens the stream: `(client, { cursor, metadata }) => client.subscribe({ after: cursor }, metadata)`. */
  readonly open: (client: Client, call: OpenCall<Cursor>) => ServerStream<Message>;
  /** Does the work of one message. It is finished when this returns, or when the promise it returns resolves. */
  readonly handle: (message: Message, context: HandlerContext<Client>) => unknown;
  /** Where a message stands in the stream, if the service can resume from there. @default none: it cannot */
  readonly cursor?: (message: Message) => Cursor;
  /** The cursor to begin with, for example of the last run. @default none */
  readonly resumeFrom?: Cursor;
  /** How many messages may be in flight. With 1 they are handled strictly in order. @default 1 */
  readonly concurrency?: number;
  /**
   * What to do when the handler throws: try the message again after a back-off, for ever; count it as finished; or stop the
   * consumer, so that whoever supervises it sees the failure. A function decides by the failure. @default "retry"
   */
  readonly onHandlerError?: Decision | ((failure: HandlerFailure<Message>) => Decision);
  /** What to do when the server ends the stream with status OK. @default "reconnect" */
  readonly onEnd?: "reconnect" | "stop";
  /** gRPC statuses by which the server says that it is no use to come again, for example FAILED_PRECONDITION. @default [] */
  readonly stopOn?: readonly number[];
  /**
   * Asks the service to end the stream, when everything in flight is finished: then the server ends it with status OK. It is
   * waited for within the drain time. Without it the stream is cancelled. @default none
   */
  readonly onDrain?: (call: DrainCall<Client, Cursor>) => unknown;
  /** How long a shutdown waits for messages in flight and for the server's end of the stream. @default 15000 */
  readonly drainTimeoutMs?: number;
  /** How long a shutdown takes at most. @default 20000 */
  readonly shutdownTimeoutMs?: number;
  /** How long one try to connect may take. @default 10000 */
  readonly connectTimeoutMs?: number;
  /** Between tries to connect, and between tries of a message. @default 1, 2, 4, 8 … 30 s, up to a fifth less by chance */
  readonly backOff?: BackOffOptions;
  /** A stream that was open for so long starts the back-off anew, also without a finished message. @default 60000 */
  readonly stableMs?: number;
  /** How long the stream may be down before the consumer calls itself unhealthy. @default 60000 */
  readonly unhealthyAfterMs?: number;
  /** Pings, so that a dead peer is noticed: how often, and how long to wait for the answer. @default 20 s, 5 s */
  readonly keepalive?: { readonly everyMs?: number; readonly timeoutMs?: number };
  /** What the metadata of every call carries. @default $TENURE_TOKEN, $TENURE_IDENTITY, $TENURE_ELECTION */
  readonly fence?: Fence;
  /** @default the machine's */
  readonly clock?: Clock;
  /** A number in [0, 1). @default Math.random */
  readonly random?: () => number;
}

const defaults = {
  concurrency: 1,
  drainTimeoutMs: 15_000,
  shutdownTimeoutMs: 20_000,
  connectTimeoutMs: 10_000,
  stableMs: 60_000,
  unhealthyAfterMs: 60_000,
} as const;

export interface CheckedOptions {
  readonly concurrency: number;
  readonly drainTimeoutMs: number;
  readonly shutdownTimeoutMs: number;
  readonly connectTimeoutMs: number;
  readonly stableMs: number;
  readonly unhealthyAfterMs: number;
  readonly keepalive: { readonly everyMs: number; readonly timeoutMs: number };
  readonly backOff: Required<BackOffOptions>;
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
    keepalive: { everyMs: 20_000, timeoutMs: 5_000, ...options.keepalive },
    backOff: { ...defaultBackOff, ...options.backOff },
  };
  const problems = [
    ...functionProblems(options as unknown as Record<string, unknown>),
    ...numberProblems(checked),
    ...choiceProblems(options),
  ];
  if (problems.length > 0) {
    throw new StreamError("InvalidOptions", `Cannot set up the consumer: ${problems.join("; ")}.`);
  }
  return checked;
}

function functionProblems(options: Record<string, unknown>): string[] {
  const needed = ["client", "open", "handle"].filter((name) => typeof options[name] !== "function");
  const wrong = ["cursor", "onDrain"].filter(
    (name) => options[name] !== undefined && typeof options[name] !== "function",
  );
  return [...needed, ...wrong].map((name) => `${name} must be a function: ${typeof options[name]}`);
}

function numberProblems(checked: CheckedOptions): string[] {
  const problems: string[] = [];
  const { concurrency, drainTimeoutMs, shutdownTimeoutMs, backOff, keepalive } = checked;
  if (!Number.isInteger(concurrency) || concurrency < 1) {
    problems.push(`concurrency must be a whole number from 1: ${concurrency}`);
  }
  const lengths = {
    drainTimeoutMs,
    shutdownTimeoutMs,
    connectTimeoutMs: checked.connectTimeoutMs,
    stableMs: checked.stableMs,
    unhealthyAfterMs: checked.unhealthyAfterMs,
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

function choiceProblems(options: { onHandlerError?: unknown; onEnd?: unknown }): string[] {
  const problems: string[] = [];
  const { onHandlerError = "retry", onEnd = "reconnect" } = options;
  if (typeof onHandlerError !== "function" && !["retry", "skip", "stop"].includes(String(onHandlerError))) {
    problems.push(
      `onHandlerError must be "retry", "skip", "stop" or a function: ${JSON.stringify(onHandlerError)}`,
    );
  }
  if (!["reconnect", "stop"].includes(String(onEnd))) {
    problems.push(`onEnd must be "reconnect" or "stop": ${JSON.stringify(onEnd)}`);
  }
  return problems;
}
