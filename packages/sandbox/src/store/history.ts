/**
 * The last events, bounded in number and in bytes so that memory stays flat whatever is written. Watches resume from
 * it, and a list that is read in pages sees the revision of its first page through it.
 */
import type { Stored, StoreEvent } from "./types.ts";

/** Enough for a minute of a busy test; a watcher that was away for longer lists again. */
const defaultMaxEvents = 4096;
/** A ConfigMap may have a megabyte, and 4096 of those would be too much to remember. */
const maxCharacters = 32 * 1024 * 1024;

export class History {
  readonly #maxEvents: number;
  #events: StoreEvent[] = [];
  /** Index of the oldest event that is still remembered; the array is cut only now and then. */
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
      this.#forget();
  }

  /** The events after a revision, oldest first; undefined if some of them are forgotten. */
  since(revision: number): StoreEvent[] | undefined {
    if (revision < this.#compactedRevision) return undefined;
    let index = this.#events.length;
    while (index > this.#first && (this.#events[index - 1] as StoreEvent).revision > revision) index--;
    return this.#events.slice(index);
  }

  /** What a present listing was at an earlier revision: later events are taken back. */
  undo(present: Stored[], prefix: string, revision: number): Stored[] | undefined {
    const events = this.since(revision);
    if (events === undefined) return undefined;
    const objects = new Map(present.map((object) => [object.key, object]));
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

  #forget(): void {
    const oldest = this.#events[this.#first] as StoreEvent;
    this.#compactedRevision = oldest.revision;
    this.#characters -= oldest.object.json.length;
    // Frees the event now, although the array is cut only when half of it is dead.
    (this.#events as (StoreEvent | undefined)[])[this.#first++] = undefined;
    if (this.#first > 1024 && this.#first * 2 > this.#events.length) {
      this.#events = this.#events.slice(this.#first);
      this.#first = 0;
    }
  }
}
