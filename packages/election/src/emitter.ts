/** Events in the order in which they happened; a listener that throws harms neither whoever emits nor the others. */
export class Emitter<Events extends Record<keyof Events, unknown>> {
  readonly #listeners = new Map<keyof Events, Set<(event: never) => void>>();
  readonly #onListenerError: (error: unknown) => void;

  constructor(onListenerError: (error: unknown) => void) {
    this.#onListenerError = onListenerError;
  }

  on<Name extends keyof Events>(name: Name, listener: (event: Events[Name]) => void): () => void {
    const listeners = this.#listeners.get(name) ?? new Set();
    this.#listeners.set(name, listeners.add(listener));
    return () => listeners.delete(listener);
  }

  has(name: keyof Events): boolean {
    return (this.#listeners.get(name)?.size ?? 0) > 0;
  }

  emit<Name extends keyof Events>(name: Name, event: Events[Name]): void {
    // A copy: a listener that ends itself and listens again would otherwise hear the same event for ever.
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
