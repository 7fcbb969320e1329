/**
 * Runs a health check periodically, and reports when the child failed too many checks in a row. At most one check runs at a
 * time: a check that takes longer than the period delays the next one.
 */
import { after, type Clock, messageOf } from "@tenure/base";
import type { HealthEvent } from "../events.ts";

interface MonitorOptions {
  readonly clock: Clock;
  /** Rejects if the child is not healthy. Must settle soon after its signal aborts. */
  readonly check: (signal: AbortSignal) => Promise<void>;
  readonly periodMs: number;
  readonly timeoutMs: number;
  readonly initialDelayMs: number;
  readonly threshold: number;
  /** Called when the health changes, and at every failure. */
  readonly onHealth: (event: HealthEvent) => void;
  /** Called once, after `threshold` failures in a row. The monitor stops then. */
  readonly onUnhealthy: (message: string) => void;
}

export class HealthMonitor {
  readonly #options: MonitorOptions;
  #cancel = () => {};
  #running: AbortController | undefined;
  #failures = 0;
  #healthy: boolean | undefined;
  #isStopped = false;

  constructor(options: MonitorOptions) {
    this.#options = options;
  }

  /** Undefined until the first check has a result. */
  get healthy(): boolean | undefined {
    return this.#healthy;
  }

  start(): void {
    const { clock, initialDelayMs } = this.#options;
    this.#checkAt(clock.now().monoMs + initialDelayMs);
  }

  /** Stops the checks. No callback is called any more. */
  stop(): void {
    this.#isStopped = true;
    this.#cancel();
    this.#running?.abort(new Error("the monitor was stopped"));
  }

  #checkAt(atMs: number): void {
    this.#cancel = this.#options.clock.at(atMs, () => void this.#check());
  }

  async #check(): Promise<void> {
    const { clock, periodMs } = this.#options;
    const startedMs = clock.now().monoMs;
    const failure = await this.#failureOfCheck();
    if (this.#isStopped) return;
    if (failure === undefined) this.#onPassed();
    else this.#onFailed(failure);
    if (!this.#isStopped) this.#checkAt(Math.max(startedMs + periodMs, clock.now().monoMs));
  }

  async #failureOfCheck(): Promise<string | undefined> {
    const { clock, check, timeoutMs } = this.#options;
    const controller = new AbortController();
    this.#running = controller;
    const tooLate = `no answer within ${timeoutMs} ms`;
    const cancel = after(clock, timeoutMs, () => controller.abort(new Error(tooLate)));
    try {
      await check(controller.signal);
      return controller.signal.aborted ? tooLate : undefined;
    } catch (error) {
      return messageOf(error);
    } finally {
      cancel();
    }
  }

  #onPassed(): void {
    const isChange = this.#healthy !== true || this.#failures > 0;
    this.#failures = 0;
    this.#healthy = true;
    if (isChange) this.#options.onHealth({ healthy: true, failures: 0 });
  }

  #onFailed(message: string): void {
    const { threshold, onHealth, onUnhealthy } = this.#options;
    this.#failures += 1;
    const isUnhealthy = this.#failures >= threshold;
    if (isUnhealthy) this.#healthy = false;
    onHealth({ healthy: !isUnhealthy, failures: this.#failures, message });
    if (!isUnhealthy) return;
    this.stop();
    onUnhealthy(message);
  }
}
