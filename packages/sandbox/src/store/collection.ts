/** The objects of one resource, ordered by key, with their history and their watchers. */
import { History } from "./history.ts";
import { SortedMap } from "./sorted-map.ts";
import type { Page, PageOptions, Stored, StoreEvent } from "./types.ts";

export class Collection {
  readonly #objects = new SortedMap<Stored>();
  readonly #history: History;
  readonly #listeners = new Set<{ prefix: string; listener: (event: StoreEvent) => void }>();

  /** The history begins at `revision`. */
  constructor(revision: number, maxEvents: number) {
    this.#history = new History(revision, maxEvents);
  }

  get(key: string): Stored | undefined {
    return this.#objects.get(key);
  }

  /** Adds an object without an event, when a store is opened. */
  load(object: Stored): void {
    this.#objects.set(object.key, object);
  }

  /** The objects under a prefix, from a key on. */
  *list(prefix: string, from = prefix): Generator<Stored> {
    for (const object of this.#objects.from(from)) {
      if (!object.key.startsWith(prefix)) return;
      yield object;
    }
  }

  page(prefix: string, options: PageOptions): Page | undefined {
    const { revision, after, limit = Number.POSITIVE_INFINITY, matches } = options;
    const changed = revision === undefined ? noChanges : this.#history.changedSince(revision);
    if (changed === undefined) return undefined;
    // A key with a zero character is the next possible one.
    const from = after === undefined ? prefix : `${after}\u0000`;
    const items: Stored[] = [];
    for (const object of this.#listBefore(changed, prefix, from)) {
      if (matches && !matches(object.value)) continue;
      items.push(object);
      if (items.length >= limit) break;
    }
    const last = items.at(-1);
    return { items, remaining: last ? this.#countBehind(last.key, prefix, changed) : 0 };
  }

  /** Changes the objects, then tells the watchers. */
  apply(event: StoreEvent): void {
    const { object } = event;
    if (event.type === "DELETED") this.#objects.delete(object.key);
    else this.#objects.set(object.key, object);
    this.#history.add(event);
    for (const { prefix, listener } of this.#listeners) if (object.key.startsWith(prefix)) listener(event);
  }

  watch(prefix: string, after: number, listener: (event: StoreEvent) => void): (() => void) | undefined {
    const missed = this.#history.since(after);
    if (missed === undefined) return undefined;
    for (const event of missed) if (event.object.key.startsWith(prefix)) listener(event);
    const subscription = { prefix, listener };
    this.#listeners.add(subscription);
    return () => this.#listeners.delete(subscription);
  }

  compact(revision: number): void {
    this.#history.compact(revision);
  }

  /** Like `list`, with the changed objects as they were before. */
  *#listBefore(changed: Changes, prefix: string, from: string): Generator<Stored> {
    if (changed.size === 0) return yield* this.list(prefix, from);
    const earlier = [...changed.values()]
      .filter((object) => object !== undefined && object.key >= from && object.key.startsWith(prefix))
      .sort((a, b) => ((a as Stored).key < (b as Stored).key ? -1 : 1)) as Stored[];
    let next = 0;
    for (const object of this.list(prefix, from)) {
      if (changed.has(object.key)) continue;
      while ((earlier[next]?.key ?? object.key) < object.key) yield earlier[next++] as Stored;
      yield object;
    }
    yield* earlier.slice(next);
  }

  #countBehind(key: string, prefix: string, changed: Changes): number {
    const next = `${key}\u0000`;
    let count = this.#objects.rank(`${prefix}\uffff`) - this.#objects.rank(next);
    for (const [at, before] of changed) {
      if (at < next || !at.startsWith(prefix)) continue;
      count += (before === undefined ? 0 : 1) - (this.#objects.get(at) === undefined ? 0 : 1);
    }
    return count;
  }
}

type Changes = ReadonlyMap<string, Stored | undefined>;
const noChanges: Changes = new Map();
