/**
 * The most recent events, limited in number and in size so that memory use stays constant. Watches resume from it, and
 * the later pages of a list use it to show the revision of the first page.
 */
import type { Stored, StoreEvent } from "./types.ts";

/** Enough for a minute of a busy test. A watcher that was disconnected for longer has to list again. */
const defaultMaxEvents = 4096;
/** A ConfigMap can have a megabyte, and 4096 of them would need too much memory. */
const maxCharacters = 32 * 1024 * 1024;

export class History {
  readonly #maxEvents: number;
  #events: StoreEvent[] = [];
  /** Index of the oldest event that is kept. Dropped events are removed from the array in batches. */
  #first = 0;
  #characters = 0;
  #compactedRevision: number;

  constructor(revision: number, maxEvents = defaultMaxEvents) {
    this.#compactedRevision = revision;
    this.#maxEvents = maxEvents;
  }

  get compactedRevision(): number {
    return this.#compactedRevision;
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

  /** Turns a current list into the list at an earlier revision, by undoing the later events. */
  listAt(current: Stored[], prefix: string, revision: number): Stored[] | undefined {
    const events = this.since(revision);
    if (events === undefined) return undefined;
    const objects = new Map(current.map((object) => [object.key, object]));
    for (const { object, previous } of events.reverse()) {
      if (!object.key.startsWith(prefix)) continue;
      if (previous) objects.set(object.key, previous);
      else objects.delete(object.key);
    }
    return [...objects.values()].sort((a, b) => (a.key < b.key ? -1 : 1));
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
