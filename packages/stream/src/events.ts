import type { Decision, HandlerFailure } from "./consumer/deliveries.ts";
import type { StreamError } from "./errors.ts";

/**
 * - `idle`: created, not started.
 * - `connecting`: the consumer is connecting.
 * - `streaming`: the consumer is connected and has requested the stream. A server may respond only with its first message.
 * - `waiting`: the stream broke, and the consumer waits for the next attempt.
 * - `draining`: shutting down. The consumer takes no new message.
 * - `closed`: ended.
 */
export type ConsumerPhase = "idle" | "connecting" | "streaming" | "waiting" | "draining" | "closed";

export interface StreamHealth {
  readonly healthy: boolean;
  /** Whether messages can arrive now. */
  readonly ready: boolean;
  /** A description for people. */
  readonly message: string;
}

export interface ConsumerStats<Cursor> {
  readonly inFlight: number;
  /** Includes skipped messages and dead letters. */
  readonly finished: number;
  readonly skipped: number;
  /** How many messages `onDeadLetter` has put aside. */
  readonly deadLettered: number;
  /** How many streams were opened. */
  readonly streams: number;
  /** The cursor of the last message that is finished together with all messages before it. */
  readonly cursor: Cursor | undefined;
}

/** How a shutdown went. */
export interface ShutdownReport {
  /** Whether no message was in flight when the stream ended. */
  readonly drained: boolean;
  /** How many messages were still in flight at the end of the drain time. They are unfinished. */
  readonly abandoned: number;
  /** How many messages were given up because the handler threw during the shutdown. They are unfinished. */
  readonly givenUp: number;
  /**
   * How the stream ended: the server ended it with status OK, this side cancelled it, it broke during the shutdown, or there
   * was none.
   */
  readonly streamEnd: "server" | "cancelled" | "broken" | "none";
  /** A description for people. */
  readonly message: string;
}

/** The events of a consumer. */
export interface ConsumerEvents<Message> {
  phase: { readonly phase: ConsumerPhase };
  /** The stream ended. The next attempt follows after `retryInMs`. `tries` counts the failures since it last worked. */
  broken: { readonly error: StreamError; readonly retryInMs: number; readonly tries: number };
  /** The handler threw. */
  "handler-failed": HandlerFailure<Message> & { readonly decision: Decision };
  /** `healthy` or `ready` changed. */
  health: StreamHealth;
  /** The consumer has ended. */
  closed: ShutdownReport;
}
