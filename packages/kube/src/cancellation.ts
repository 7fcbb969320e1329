/**
 * One way to stop: the time limit, the caller's signal and `close()` all call `cancel(error)`. `dispose()` removes every timer
 * and listener, so one signal can serve any number of requests.
 */
import { after, type Clock, onAbort } from "@tenure/base";
import { KubeError } from "./errors.ts";

export class Cancellation {
  readonly #callbacks = new Set<(error: KubeError) => void>();
  readonly #cleanups: (() => void)[] = [];
  #error: KubeError | undefined;

  get error(): KubeError | undefined {
    return this.#error;
  }

  readonly cancel = (error: KubeError): void => {
    if (this.#error !== undefined) return;
    this.#error = error;
    for (const callback of [...this.#callbacks]) callback(error);
    this.#callbacks.clear();
  };

  /** Calls back when cancelled, at once if it already is. The returned function removes the callback. */
  onCancel(callback: (error: KubeError) => void): () => void {
    if (this.#error !== undefined) callback(this.#error);
    else this.#callbacks.add(callback);
    return () => this.#callbacks.delete(callback);
  }

  /** @param action completes "Cannot …" */
  cancelOnAbort(signal: AbortSignal | undefined, action: () => string): void {
    if (signal === undefined) return;
    const abort = (): void =>
      this.cancel(
        new KubeError("Aborted", `Cannot ${action()}: the caller aborted it.`, { cause: signal.reason }),
      );
    if (signal.aborted) abort();
    else this.addCleanup(onAbort(signal, abort));
  }

  cancelAfter(clock: Clock, ms: number, error: () => KubeError): void {
    this.addCleanup(after(clock, ms, () => this.cancel(error())));
  }

  addCleanup(cleanup: () => void): void {
    this.#cleanups.push(cleanup);
  }

  /** Like `race`, for a value that may be there already. */
  wait<T>(value: T | Promise<T>): T | Promise<T> {
    return value instanceof Promise ? this.race(value) : value;
  }

  /** Settles as the promise does, or rejects when cancelled, whichever comes first. */
  race<T>(promise: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const off = this.onCancel(reject);
      promise.then(
        (value) => {
          off();
          resolve(value);
        },
        (error) => {
          off();
          reject(error);
        },
      );
    });
  }

  /** Waits for `ms`. Rejects when cancelled. */
  async sleep(clock: Clock, ms: number): Promise<void> {
    let cancelTimer = (): void => {};
    const elapsed = new Promise<void>((resolve) => {
      cancelTimer = after(clock, ms, resolve);
    });
    await this.race(elapsed).finally(cancelTimer);
  }

  dispose(): void {
    for (const cleanup of this.#cleanups.splice(0)) cleanup();
    this.#callbacks.clear();
  }
}
