/** Whether the consumer is well: says so when asked, and tells when it changes, also if it changes only by time passing. */
import type { StreamError } from "../errors.ts";
import type { Health, Phase } from "../events.ts";
import type { Clock } from "../platform.ts";

/** A message that failed so often in a row is no accident any more. */
const failuresToWorry = 3;

export interface HealthParts {
  readonly clock: Clock;
  readonly unhealthyAfterMs: number;
  readonly phase: () => Phase;
  /** How often the worst message has failed. */
  readonly failures: () => number;
  readonly failure: () => StreamError | undefined;
  readonly onChange: (health: Health) => void;
}

export class HealthWatch {
  readonly #parts: HealthParts;
  #downSinceMs: number | undefined;
  #cancelTimer: () => void = () => {};
  #last = { healthy: true, ready: false };

  constructor(parts: HealthParts) {
    this.#parts = parts;
  }

  now(): Health {
    const { phase, failures, failure, clock, unhealthyAfterMs } = this.#parts;
    const ready = phase() === "streaming";
    const failed = failure();
    if (failed) return { healthy: false, ready, message: failed.message };
    const downMs = this.#downSinceMs === undefined ? 0 : clock.nowMs() - this.#downSinceMs;
    if (downMs >= unhealthyAfterMs) {
      return { healthy: false, ready, message: `no stream for ${Math.round(downMs / 1_000)} s` };
    }
    if (failures() >= failuresToWorry) {
      return { healthy: false, ready, message: `a message failed ${failures()} times in a row` };
    }
    return { healthy: true, ready, message: phase() };
  }

  /** To be called when something happened that matters to it. */
  review(): void {
    const phase = this.#parts.phase();
    const isDown = phase === "connecting" || phase === "waiting";
    if (!isDown) {
      this.#downSinceMs = undefined;
      this.#cancelTimer();
    } else if (this.#downSinceMs === undefined) {
      this.#downSinceMs = this.#parts.clock.nowMs();
      this.#cancelTimer = this.#parts.clock.after(this.#parts.unhealthyAfterMs, () => this.#tell());
    }
    this.#tell();
  }

  /** A message is settled: cheap, as it is called for every one. */
  recovered(): void {
    if (!this.#last.healthy) this.#tell();
  }

  close(): void {
    this.#cancelTimer();
  }

  #tell(): void {
    const health = this.now();
    if (health.healthy === this.#last.healthy && health.ready === this.#last.ready) return;
    this.#last = { healthy: health.healthy, ready: health.ready };
    this.#parts.onChange(health);
  }
}
