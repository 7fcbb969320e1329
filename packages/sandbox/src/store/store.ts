/**
 * The store: all objects under /registry/…, one revision that increases with every change, and a limited history from
 * which watches resume. Several API servers can share one store. They then behave like one cluster.
 *
 * It guarantees that commits are serialised, that a change is on disk (if there is one) before any reader sees it, and
 * that the revision never goes back. It does not guarantee that the history reaches back to a given revision.
 */
import { type ApiObject, withMetadata } from "../objects/object.ts";
import { Collection } from "./collection.ts";
import { History } from "./history.ts";
import type { Decision, Journal, StoreContent, Stored, StoreEvent } from "./types.ts";

export class Store {
  readonly #collections = new Map<string, Collection>();
  readonly #history: History;
  readonly #journal: Journal | undefined;
  #revision = 1;
  #turn: Promise<unknown> = Promise.resolve();

  constructor(options: { journal?: Journal; content?: StoreContent; historyEvents?: number } = {}) {
    this.#journal = options.journal;
    if (options.content) {
      this.#revision = options.content.revision;
      for (const { key, json } of options.content.entries) {
        const value = JSON.parse(json) as ApiObject;
        this.#collection(key).set({ key, revision: Number(value.metadata.resourceVersion), value, json });
      }
    }
    this.#history = new History(this.#revision, options.historyEvents);
  }

  /** The revision of the last commit. */
  get revision(): number {
    return this.#revision;
  }

  /** The oldest revision from which watches can resume. */
  get compactedRevision(): number {
    return this.#history.compactedRevision;
  }

  get(key: string): Stored | undefined {
    return this.#collections.get(collectionOf(key))?.get(key);
  }

  /** All objects under a prefix, ordered by key. Undefined if the history does not reach back to `revision`. */
  list(prefix: string): Stored[];
  list(prefix: string, revision: number): Stored[] | undefined;
  list(prefix: string, revision = this.#revision): Stored[] | undefined {
    const present = this.#collections.get(collectionOf(prefix))?.list(prefix) ?? [];
    if (revision === this.#revision) return present;
    return this.#history.listAt(present, prefix, revision);
  }

  /** All objects of all kinds, in no particular order. */
  *all(): Generator<Stored> {
    for (const collection of this.#collections.values()) yield* collection.list("");
  }

  /**
   * Calls `decide` with the current state of one key, and commits its decision. No other commit happens between the
   * state that `decide` sees and the decision that it returns.
   */
  async commit(key: string, decide: (current: Stored | undefined) => Decision): Promise<Stored | undefined> {
    const journal = this.#journal;
    if (journal === undefined) return this.#apply(this.#plan(key, decide));
    const turn = this.#turn.then(async () => {
      const plan = this.#plan(key, decide);
      if (plan.event) {
        const { type, revision, object } = plan.event;
        await journal.write({ revision, key, json: type === "DELETED" ? undefined : object.json });
      }
      return this.#apply(plan);
    });
    this.#turn = turn.catch(() => undefined);
    return turn;
  }

  /**
   * Calls back for every change under the prefix after a revision. Undefined if the history does not reach back to
   * it.
   */
  watch(prefix: string, after: number, listener: (event: StoreEvent) => void): (() => void) | undefined {
    const missed = this.#history.since(after);
    if (missed === undefined) return undefined;
    for (const event of missed) if (event.object.key.startsWith(prefix)) listener(event);
    return this.#collection(prefix).subscribe(prefix, listener);
  }

  /** Calls back for every later change of any object. */
  watchAll(listener: (event: StoreEvent) => void): () => void {
    this.#everything.add(listener);
    return () => this.#everything.delete(listener);
  }
  readonly #everything = new Set<(event: StoreEvent) => void>();

  /** Drops the history, as etcd does every few minutes. Watches from an older revision get 410. */
  compact(): void {
    this.#history.compact(this.#revision);
  }

  async close(): Promise<void> {
    await this.#turn;
    await this.#journal?.close();
  }

  #plan(key: string, decide: (current: Stored | undefined) => Decision): Plan {
    const previous = this.get(key);
    const decision = decide(previous);
    if (decision === undefined || (decision === "delete" && previous === undefined)) {
      return { result: previous, event: undefined };
    }
    const revision = this.#revision + 1;
    const value = withMetadata(decision === "delete" ? (previous as Stored).value : decision, {
      resourceVersion: String(revision),
    });
    const object: Stored = { key, revision, value, json: JSON.stringify(value) };
    const type = decision === "delete" ? "DELETED" : previous ? "MODIFIED" : "ADDED";
    return { result: object, event: { type, revision, object, previous } };
  }

  #apply({ result, event }: Plan): Stored | undefined {
    if (event === undefined) return result;
    const collection = this.#collection(event.object.key);
    this.#revision = event.revision;
    if (event.type === "DELETED") collection.delete(event.object.key);
    else collection.set(event.object);
    this.#history.add(event);
    collection.notify(event);
    for (const listener of this.#everything) listener(event);
    return result;
  }

  #collection(key: string): Collection {
    const name = collectionOf(key);
    let collection = this.#collections.get(name);
    if (!collection) {
      collection = new Collection();
      this.#collections.set(name, collection);
    }
    return collection;
  }
}

interface Plan {
  result: Stored | undefined;
  event: StoreEvent | undefined;
}

/** Objects are grouped by resource: /registry/<resource>/… */
function collectionOf(key: string): string {
  return key.slice(0, key.indexOf("/", "/registry/".length) + 1);
}
