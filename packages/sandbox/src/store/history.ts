/**
 * The most recent events of one resource, limited in number and in size so that memory use stays constant. Watches
 * resume from it, and the later pages of a list use it to show the revision of the first page.
 */
import type { Stored, StoreEvent } from "./types.ts";

/** Enough for a minute of a busy test. A watcher that was disconnected for longer has to list again. */
export const defaultMaxEvents = 4096;
/** A ConfigMap can have a megabyte, and 4096 of them would need too much memory. */
const maxCharacters = 32 * 1024 * 1024;

export class History {
  readonly #maxEvents: number;
  #events: StoreEvent[] = [];
  /** Index of the oldest event that is kept. Dropped events are removed from the array in batches. */
  #first = 0;
  #characters = 0;
  #compactedRevision: number;

  constructor(revision: number, maxEvents: number) {
    this.#compactedRevision = revision;
    this.#maxEvents = maxEvents;
  }

  add(event: StoreEvent): void {
    this.#events.push(event);
    this.#characters += event.object.json.length;
    while (this.#events.length - this.#first > this.#maxEvents || this.#characters > maxCharacters)
      this.#dropOldest();
  }

  /** The events after a revision, oldest first. Undefined if some of them have been dropped. */
  since(revision: number): StoreEvent[] | undefined {
    if (revision < this.#compactedRevision) return undefined;
    let index = this.#events.length;
    while (index > this.#first && (this.#events[index - 1] as StoreEvent).revision > revision) index--;
    return this.#events.slice(index);
  }

  /**
   * The objects that have changed since a revision, as they were then. Undefined stands for an object that did not
   * exist.
   */
  changedSince(revision: number): Map<string, Stored | undefined> | undefined {
    const events = this.since(revision);
    if (events === undefined) return undefined;
    const changed = new Map<string, Stored | undefined>();
    for (const { object, previous } of events)
      if (!changed.has(object.key)) changed.set(object.key, previous);
    return changed;
  }

  compact(revision: number): void {
    this.#events = this.since(revision) ?? this.#events.slice(this.#first);
    this.#first = 0;
    this.#characters = this.#events.reduce((sum, event) => sum + event.object.json.length, 0);
    this.#compactedRevision = Math.max(this.#compactedRevision, revision);
  }

  #dropOldest(): void {
    const oldest = this.#events[this.#first] as StoreEvent;
    this.#compactedRevision = oldest.revision;
    this.#characters -= oldest.object.json.length;
    // Releases the event now. The array is shortened only when half of its entries are dropped.
    (this.#events as (StoreEvent | undefined)[])[this.#first++] = undefined;
    if (this.#first > 1024 && this.#first * 2 > this.#events.length) {
      this.#events = this.#events.slice(this.#first);
      this.#first = 0;
    }
  }
}
