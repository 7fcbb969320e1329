/** The objects of one resource, ordered by key, and their watchers. */
import type { Stored, StoreEvent } from "./types.ts";

export class Collection {
  readonly #objects = new Map<string, Stored>();
  readonly #listeners = new Set<{ prefix: string; listener: (event: StoreEvent) => void }>();
  #order: string[] | undefined;

  get(key: string): Stored | undefined {
    return this.#objects.get(key);
  }

  set(object: Stored): void {
    if (!this.#objects.has(object.key)) this.#order = undefined;
    this.#objects.set(object.key, object);
  }

  delete(key: string): void {
    if (this.#objects.delete(key)) this.#order = undefined;
  }

  list(prefix: string): Stored[] {
    this.#order ??= [...this.#objects.keys()].sort();
    const keys = prefix === "" ? this.#order : this.#order.filter((key) => key.startsWith(prefix));
    return keys.map((key) => this.#objects.get(key) as Stored);
  }

  subscribe(prefix: string, listener: (event: StoreEvent) => void): () => void {
    const subscription = { prefix, listener };
    this.#listeners.add(subscription);
    return () => this.#listeners.delete(subscription);
  }

  notify(event: StoreEvent): void {
    for (const { prefix, listener } of this.#listeners)
      if (event.object.key.startsWith(prefix)) listener(event);
  }
}
