import type { Decision, HandlerFailure } from "./consumer/deliveries.ts";
import type { StreamError } from "./errors.ts";

/**
 * - `idle`: made, not started.
 * - `connecting`: a connection is being made.
 * - `streaming`: the connection stands and the stream was asked for. A server need not answer before its first message.
 * - `waiting`: the stream broke; the back-off runs.
 * - `draining`: shutting down: nothing new is taken.
 * - `closed`: over.
 */
export type Phase = "idle" | "connecting" | "streaming" | "waiting" | "draining" | "closed";

export interface Health {
  readonly healthy: boolean;
  /** Whether messages can arrive at this moment. */
  readonly ready: boolean;
  /** One sentence for people. */
  readonly message: string;
}

/** How a shutdown went. */
export interface ShutdownReport {
  /** Whether nothing was in flight any more when the stream was ended. */
  readonly drained: boolean;
  /** How many messages were in flight when the drain time was over. They were not finished. */
  readonly abandoned: number;
  /** How many messages were given up, as their handler threw and there was no other try. They were not finished. */
  readonly givenUp: number;
  /**
   * Who ended the stream: the server with status OK, this side by cancelling, or nobody, as there was none. "broken": it broke
   * while it was being ended.
   */
  readonly streamEnd: "server" | "cancelled" | "broken" | "none";
  /** One sentence for people. */
  readonly message: string;
}

/** What can be listened to, in the order in which it happens. */
export interface ConsumerEvents<Message> {
  phase: { readonly phase: Phase };
  /** The stream ended, and will be opened again after `retryInMs`. `tries` counts those since it last worked. */
  broken: { readonly error: StreamError; readonly retryInMs: number; readonly tries: number };
  /** The handler threw. */
  "handler-failed": HandlerFailure<Message> & { readonly decision: Decision };
  /** Health or readiness is another than before. */
  health: Health;
  /** The consumer is over. */
  closed: ShutdownReport;
}
