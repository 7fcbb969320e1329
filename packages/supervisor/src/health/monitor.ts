/**
 * Asks a check again and again, and says when the child has failed too many in a row. Never two questions at once: one that
 * takes longer than the period puts the next off.
 */
import type { Clock } from "@tenure/base";
import { inWords } from "../errors.ts";
import type { HealthEvent } from "../events.ts";

export interface MonitorParts {
  readonly clock: Clock;
  /** Rejects when the child is not well. Must settle soon after its signal aborts. */
  readonly ask: (signal: AbortSignal) => Promise<void>;
  readonly periodMs: number;
  readonly timeoutMs: number;
  readonly initialDelayMs: number;
  readonly threshold: number;
  /** When it changed, and at every failure. */
  readonly onHealth: (event: HealthEvent) => void;
  /** Once: so many in a row failed. Nothing is asked any more. */
  readonly onUnhealthy: (message: string) => void;
}

export class HealthMonitor {
  readonly #parts: MonitorParts;
  #cancel = () => {};
  #question: AbortController | undefined;
  #failures = 0;
  #healthy: boolean | undefined;
  #isStopped = false;

  constructor(parts: MonitorParts) {
    this.#parts = parts;
  }

  /** undefined: not asked yet. */
  get healthy(): boolean | undefined {
    return this.#healthy;
  }

  start(): void {
    const { clock, initialDelayMs } = this.#parts;
    this.#askAt(clock.now().monoMs + initialDelayMs);
  }

  /** Nothing is told any more. */
  stop(): void {
    this.#isStopped = true;
    this.#cancel();
    this.#question?.abort(new Error("not needed any more"));
  }

  #askAt(atMs: number): void {
    this.#cancel = this.#parts.clock.at(atMs, () => void this.#ask());
  }

  async #ask(): Promise<void> {
    const { clock, periodMs } = this.#parts;
    const startedMs = clock.now().monoMs;
    const problem = await this.#problem();
    if (this.#isStopped) return;
    if (problem === undefined) this.#passed();
    else this.#failed(problem);
    if (!this.#isStopped) this.#askAt(Math.max(startedMs + periodMs, clock.now().monoMs));
  }

  async #problem(): Promise<string | undefined> {
    const { clock, ask, timeoutMs } = this.#parts;
    const question = new AbortController();
    this.#question = question;
    const tooLate = `no answer within ${timeoutMs} ms`;
    const cancel = clock.at(clock.now().monoMs + timeoutMs, () => question.abort(new Error(tooLate)));
    try {
      await ask(question.signal);
      return question.signal.aborted ? tooLate : undefined;
    } catch (error) {
      return inWords(error);
    } finally {
      cancel();
    }
  }

  #passed(): void {
    const isNews = this.#healthy !== true || this.#failures > 0;
    this.#failures = 0;
    this.#healthy = true;
    if (isNews) this.#parts.onHealth({ healthy: true, failures: 0 });
  }

  #failed(message: string): void {
    const { threshold, onHealth, onUnhealthy } = this.#parts;
    this.#failures += 1;
    const isUnhealthy = this.#failures >= threshold;
    if (isUnhealthy) this.#healthy = false;
    onHealth({ healthy: !isUnhealthy, failures: this.#failures, message });
    if (!isUnhealthy) return;
    this.stop();
    onUnhealthy(message);
  }
}
