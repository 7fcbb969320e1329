/**
 * Keys of objects that need attention. A key waits at most once, however often it is added, and at most one worker works on it
 * at a time; a key that is added meanwhile is worked on once more afterwards. A key whose work fails is retried with back-off.
 */
import { after, Backoff, type BackoffPolicy, onAbort } from "@tenure/base";
import type { Platform } from "../platform.ts";

export interface WorkQueueOptions {
  platform: Platform;
  work: (key: string) => Promise<void>;
  /** The work of a key failed. It is retried. */
  onError: (error: unknown, key: string) => void;
  /** How many keys are worked on at once. @default 5 */
  workers?: number | undefined;
  /** @default from 5 ms to 30 s */
  backoff?: BackoffPolicy | undefined;
}

const defaultBackoff: BackoffPolicy = { firstMs: 5, mostMs: 30_000, jitter: 0.2 };

export class WorkQueue {
  readonly #options: WorkQueueOptions;
  readonly #waiting = new Set<string>();
  readonly #working = new Set<string>();
  readonly #timers = new Map<string, { atMs: number; cancel: () => void }>();
  readonly #failures = new Map<string, Backoff>();
  #isRunning = false;
  #onIdle = (): void => {};

  constructor(options: WorkQueueOptions) {
    this.#options = options;
  }

  add(key: string): void {
    this.#waiting.add(key);
    this.#startWork();
  }

  /** Adds the key after a time. An earlier time that is already set for the key stays. */
  addAfter(key: string, ms: number): void {
    const { clock } = this.#options.platform;
    const atMs = clock.now().monoMs + Math.max(ms, 0);
    const timer = this.#timers.get(key);
    if (timer && timer.atMs <= atMs) return;
    timer?.cancel();
    const cancel = after(clock, ms, () => {
      this.#timers.delete(key);
      this.add(key);
    });
    this.#timers.set(key, { atMs, cancel });
  }

  /** Works until the signal aborts. Resolves when the work in progress has ended. */
  async run(signal: AbortSignal): Promise<void> {
    if (signal.aborted) return;
    this.#isRunning = true;
    this.#startWork();
    await new Promise<void>((resolve) =>
      onAbort(signal, () => {
        // At once, so that nothing starts between the abort and the next turn.
        this.#isRunning = false;
        resolve();
      }),
    );
    for (const { cancel } of this.#timers.values()) cancel();
    this.#timers.clear();
    if (this.#working.size === 0) return;
    await new Promise<void>((resolve) => {
      this.#onIdle = resolve;
    });
  }

  #startWork(): void {
    if (!this.#isRunning) return;
    for (const key of this.#waiting) {
      if (this.#working.size >= (this.#options.workers ?? 5)) return;
      if (this.#working.has(key)) continue;
      this.#waiting.delete(key);
      this.#working.add(key);
      void this.#workOn(key);
    }
  }

  async #workOn(key: string): Promise<void> {
    const { work, onError, platform, backoff } = this.#options;
    try {
      await work(key);
      this.#failures.delete(key);
    } catch (error) {
      if (this.#isRunning) {
        onError(error, key);
        const wait = this.#failures.get(key) ?? new Backoff(backoff ?? defaultBackoff, platform.random);
        this.#failures.set(key, wait);
        this.addAfter(key, wait.next());
      }
    }
    this.#working.delete(key);
    if (this.#isRunning) this.#startWork();
    else if (this.#working.size === 0) this.#onIdle();
  }
}
