/**
 * Decides whether the consumer is healthy, and reports changes, including those that only the passing of time causes.
 * A connection proves nothing: a server may refuse every stream, or send only messages that are too large. So a stream works
 * when a message has arrived, or when it has been open for some time. Until one works, the consumer is on its way to unhealthy.
 */
import { after, type Clock } from "@tenure/base";
import type { StreamError } from "../errors.ts";
import type { ConsumerPhase, StreamHealth } from "../events.ts";

interface HealthWatchOptions {
  readonly clock: Clock;
  readonly unhealthyAfterMs: number;
  /** A stream that is open for this long works, even if no message has arrived. */
  readonly acceptedAfterMs: number;
  /** The consumer is unhealthy when a message has failed this many times in a row. */
  readonly unhealthyFailures: number;
  readonly phase: () => ConsumerPhase;
  /** How many times the message with the most failures has failed. */
  readonly failures: () => number;
  /** How long a handler has run that should have returned before; 0 if there is none. */
  readonly overdueMs: () => number;
  readonly failure: () => StreamError | undefined;
  readonly onChange: (health: StreamHealth) => void;
}

export class HealthWatch {
  readonly #options: HealthWatchOptions;
  /** Since when no stream works; undefined while one does. */
  #downSinceMs: number | undefined;
  /** Whether the server has accepted the current stream. */
  #isAccepted = false;
  /** Whether the current stream has ended, although messages of it may still be processed. */
  #isOver = false;
  #lastBreak: StreamError | undefined;
  #cancelDownTimer: () => void = () => {};
  #cancelOpenTimer: () => void = () => {};
  #last = { healthy: true, ready: false };

  constructor(options: HealthWatchOptions) {
    this.#options = options;
  }

  now(): StreamHealth {
    const { phase, failures, failure, clock, unhealthyAfterMs, unhealthyFailures, overdueMs } = this.#options;
    const ready = phase() === "streaming" && this.#isAccepted && !this.#isOver;
    const unhealthy = (message: string) => ({ healthy: false, ready, message });
    const failed = failure();
    if (failed) return unhealthy(failed.message);
    const downMs = this.#downSinceMs === undefined ? 0 : clock.now().monoMs - this.#downSinceMs;
    if (downMs >= unhealthyAfterMs) {
      const why = this.#lastBreak ? `: ${this.#lastBreak.message}` : "";
      return unhealthy(`no stream has worked for ${seconds(downMs)} s${why}`);
    }
    if (overdueMs() > 0) return unhealthy(`a handler has not returned for ${seconds(overdueMs())} s`);
    if (failures() >= unhealthyFailures) return unhealthy(`a message failed ${failures()} times in a row`);
    return { healthy: true, ready, message: phase() };
  }

  /** Call it when the phase has changed. */
  phaseChanged(): void {
    const { phase, clock, unhealthyAfterMs, acceptedAfterMs } = this.#options;
    const current = phase();
    this.#cancelOpenTimer();
    if (current === "streaming") {
      this.#cancelOpenTimer = after(clock, acceptedAfterMs, () => this.#works());
    } else {
      this.#isAccepted = false;
      this.#isOver = false;
      const isDown = current === "connecting" || current === "waiting";
      if (!isDown) this.#endDown();
      else if (this.#downSinceMs === undefined) {
        this.#downSinceMs = clock.now().monoMs;
        this.#cancelDownTimer = after(clock, unhealthyAfterMs, () => this.review());
      }
    }
    this.review();
  }

  /** Call it when the server has sent headers: it accepted the stream, but may still end it at once. */
  accepted(): void {
    if (this.#isAccepted) return;
    this.#isAccepted = true;
    this.review();
  }

  /** Call it when a message has arrived. It is cheap, because that happens for every message. */
  messageArrived(): void {
    if (!this.#isAccepted || this.#downSinceMs !== undefined) this.#works();
  }

  /** Call it when no message can arrive on the current stream any more. */
  streamOver(): void {
    this.#isOver = true;
    this.#cancelOpenTimer();
    this.review();
  }

  broke(error: StreamError): void {
    this.#lastBreak = error;
  }

  /** Call it when a message is settled. It is cheap, because that happens for every message. */
  messageSettled(): void {
    if (!this.#last.healthy) this.review();
  }

  /** Reports a change, if there is one. Call it when a handler has failed or is overdue. */
  review(): void {
    const health = this.now();
    if (health.healthy === this.#last.healthy && health.ready === this.#last.ready) return;
    this.#last = { healthy: health.healthy, ready: health.ready };
    this.#options.onChange(health);
  }

  close(): void {
    this.#cancelDownTimer();
    this.#cancelOpenTimer();
  }

  #works(): void {
    this.#cancelOpenTimer();
    this.#isAccepted = true;
    this.#endDown();
    this.review();
  }

  #endDown(): void {
    this.#downSinceMs = undefined;
    this.#lastBreak = undefined;
    this.#cancelDownTimer();
  }
}

function seconds(ms: number): number {
  return Math.round(ms / 1_000);
}
