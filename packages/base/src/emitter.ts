/** Emits events in order. A listener that throws affects neither the emitter nor the other listeners. */
export class Emitter<Events extends Record<keyof Events, unknown>> {
  readonly #listeners = new Map<keyof Events, Set<(event: never) => void>>();
  readonly #onListenerError: (error: unknown) => void;

  constructor(onListenerError: (error: unknown) => void) {
    this.#onListenerError = onListenerError;
  }

  /** Adds a listener. The returned function removes it. */
  on<Name extends keyof Events>(name: Name, listener: (event: Events[Name]) => void): () => void {
    const listeners = this.#listeners.get(name) ?? new Set();
    this.#listeners.set(name, listeners.add(listener));
    return () => listeners.delete(listener);
  }

  /** How many listeners there are, for all events together. */
  get size(): number {
    return [...this.#listeners.values()].reduce((sum, { size }) => sum + size, 0);
  }

  has(name: keyof Events): boolean {
    return (this.#listeners.get(name)?.size ?? 0) > 0;
  }

  emit<Name extends keyof Events>(name: Name, event: Events[Name]): void {
    // A copy, because a listener that removes itself and adds itself again would otherwise get the same event forever.
    for (const listener of [...(this.#listeners.get(name) ?? [])]) {
      try {
        const result: unknown = (listener as (event: Events[Name]) => unknown)(event);
        if (result instanceof Promise) result.catch(this.#onListenerError);
      } catch (error) {
        this.#onListenerError(error);
      }
    }
  }
}
