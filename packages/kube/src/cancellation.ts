/**
 * One way to stop: a time limit, the caller's signal and `close()` all end in the same `cancel(error)`. Every listener that
 * is put on the caller's signal is taken off again, so one signal serves any number of requests.
 */
import { KubeError } from "./errors.ts";
import type { Platform } from "./platform.ts";

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

  /** Calls back when cancelled, at once if it already was; the returned function takes it back. */
  onCancel(callback: (error: KubeError) => void): () => void {
    if (this.#error !== undefined) callback(this.#error);
    else this.#callbacks.add(callback);
    return () => this.#callbacks.delete(callback);
  }

  followSignal(signal: AbortSignal | undefined, doing: string): void {
    if (signal === undefined) return;
    const abort = (): void =>
      this.cancel(new KubeError("Aborted", `Cannot ${doing}: it was aborted.`, { cause: signal.reason }));
    if (signal.aborted) abort();
    else signal.addEventListener("abort", abort, { once: true });
    this.addCleanup(() => signal.removeEventListener("abort", abort));
  }

  followTimer(platform: Platform, ms: number, error: () => KubeError): void {
    this.addCleanup(platform.setTimer(() => this.cancel(error()), ms));
  }

  addCleanup(cleanup: () => void): void {
    this.#cleanups.push(cleanup);
  }

  /** The promise, or the rejection of the cancellation, whichever comes first. */
  race<T>(promise: Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      const off = this.onCancel(reject);
      promise.then(resolve, reject).finally(off);
    });
  }

  dispose(): void {
    for (const cleanup of this.#cleanups.splice(0)) cleanup();
    this.#callbacks.clear();
  }
}
