interface Listener {
  /** What the caller passed, for `off`. */
  readonly listener: (event: never) => void;
  readonly isOnce: boolean;
}

/** Emits events in order. A listener that throws affects neither the emitter nor the other listeners. */
export class Emitter<Events extends Record<keyof Events, unknown>> {
  readonly #listeners = new Map<keyof Events, Listener[]>();
  readonly #onListenerError: (error: unknown) => void;

  constructor(onListenerError: (error: unknown) => void) {
    this.#onListenerError = onListenerError;
  }

  /** Adds a listener, if it has not been added yet. The returned function removes it. */
  on<Name extends keyof Events>(name: Name, listener: (event: Events[Name]) => void): () => void {
    const known = this.#of(name).find((added) => added.listener === listener && !added.isOnce);
    return this.#add(name, known ?? { listener, isOnce: false });
  }

  /** Adds a listener for the next event only. The returned function removes it. */
  once<Name extends keyof Events>(name: Name, listener: (event: Events[Name]) => void): () => void {
    return this.#add(name, { listener, isOnce: true });
  }

  /** Removes a listener that `on` or `once` added. Has no effect if there is none. */
  off<Name extends keyof Events>(name: Name, listener: (event: Events[Name]) => void): void {
    const kept = this.#of(name).filter((added) => added.listener !== listener);
    this.#listeners.set(name, kept);
  }

  /** How many listeners there are, for all events together. */
  get size(): number {
    return [...this.#listeners.values()].reduce((sum, { length }) => sum + length, 0);
  }

  has(name: keyof Events): boolean {
    return this.#of(name).length > 0;
  }

  emit<Name extends keyof Events>(name: Name, event: Events[Name]): void {
    // The list is replaced, never changed, so a listener that removes itself and adds itself again gets this event only once.
    for (const added of this.#of(name)) {
      if (added.isOnce) this.#remove(name, added);
      try {
        const result: unknown = (added.listener as (event: Events[Name]) => unknown)(event);
        if (result instanceof Promise) result.catch(this.#onListenerError);
      } catch (error) {
        this.#onListenerError(error);
      }
    }
  }

  #of(name: keyof Events): readonly Listener[] {
    return this.#listeners.get(name) ?? [];
  }

  #add(name: keyof Events, added: Listener): () => void {
    const others = this.#of(name).filter((other) => other !== added);
    this.#listeners.set(name, [...others, added]);
    return () => this.#remove(name, added);
  }

  #remove(name: keyof Events, added: Listener): void {
    this.#listeners.set(
      name,
      this.#of(name).filter((other) => other !== added),
    );
  }
}
