/** Decides whether the consumer is healthy, and reports changes, including those that only the passing of time causes. */
import { after, type Clock } from "@tenure/base";
import type { StreamError } from "../errors.ts";
import type { ConsumerPhase, StreamHealth } from "../events.ts";

/** The consumer is unhealthy when a message has failed this many times in a row. */
const unhealthyFailures = 3;

interface HealthWatchOptions {
  readonly clock: Clock;
  readonly unhealthyAfterMs: number;
  readonly phase: () => ConsumerPhase;
  /** How many times the message with the most failures has failed. */
  readonly failures: () => number;
  readonly failure: () => StreamError | undefined;
  readonly onChange: (health: StreamHealth) => void;
}

export class HealthWatch {
  readonly #options: HealthWatchOptions;
  #downSinceMs: number | undefined;
  #cancelTimer: () => void = () => {};
  #last = { healthy: true, ready: false };

  constructor(options: HealthWatchOptions) {
    this.#options = options;
  }

  now(): StreamHealth {
    const { phase, failures, failure, clock, unhealthyAfterMs } = this.#options;
    const ready = phase() === "streaming";
    const failed = failure();
    if (failed) return { healthy: false, ready, message: failed.message };
    const downMs = this.#downSinceMs === undefined ? 0 : clock.now().monoMs - this.#downSinceMs;
    if (downMs >= unhealthyAfterMs) {
      return { healthy: false, ready, message: `no stream for ${Math.round(downMs / 1_000)} s` };
    }
    if (failures() >= unhealthyFailures) {
      return { healthy: false, ready, message: `a message failed ${failures()} times in a row` };
    }
    return { healthy: true, ready, message: phase() };
  }

  /** Call it when the phase has changed or the handler has failed. */
  review(): void {
    const { phase, clock, unhealthyAfterMs } = this.#options;
    const isDown = phase() === "connecting" || phase() === "waiting";
    if (!isDown) {
      this.#downSinceMs = undefined;
      this.#cancelTimer();
    } else if (this.#downSinceMs === undefined) {
      this.#downSinceMs = clock.now().monoMs;
      this.#cancelTimer = after(clock, unhealthyAfterMs, () => this.#reportChange());
    }
    this.#reportChange();
  }

  /** Call it when a message is settled. It is cheap, because that happens for every message. */
  messageSettled(): void {
    if (!this.#last.healthy) this.#reportChange();
  }

  close(): void {
    this.#cancelTimer();
  }

  #reportChange(): void {
    const health = this.now();
    if (health.healthy === this.#last.healthy && health.ready === this.#last.ready) return;
    this.#last = { healthy: health.healthy, ready: health.ready };
    this.#options.onChange(health);
  }
}
