/**
 * All objects in memory, in one collection for each resource. A store applies its commits here in the order of their
 * revisions, and serves all reads and watches from here.
 */
import { escapeJson } from "../objects/json-text.ts";
import { type ApiObject, withMetadata } from "../objects/object.ts";
import { ApiError } from "../objects/status.ts";
import { Collection } from "./collection.ts";
import { defaultMaxEvents } from "./history.ts";
import type { Decide, Page, PageOptions, Stored, StoreEvent } from "./types.ts";

export interface StoreContent {
  revision: number;
  entries: { key: string; json: string }[];
}

/** What a commit is about to do. Without an event it changes nothing. */
export interface Plan {
  result: Stored | undefined;
  event: StoreEvent | undefined;
}

export class MemoryIndex {
  readonly #collections = new Map<string, Collection>();
  readonly #everything = new Set<(event: StoreEvent) => void>();
  readonly #maxEvents: number;
  #revision: number;
  #compactedRevision: number;

  constructor({ revision, entries }: StoreContent = { revision: 1, entries: [] }, maxEvents?: number) {
    this.#maxEvents = maxEvents ?? defaultMaxEvents;
    this.#revision = revision;
    this.#compactedRevision = revision;
    for (const { key, json } of entries) {
      const value = JSON.parse(json) as ApiObject;
      this.#collection(key).load({ key, revision: Number(value.metadata.resourceVersion), value, json });
    }
  }

  get revision(): number {
    return this.#revision;
  }

  get compactedRevision(): number {
    return this.#compactedRevision;
  }

  get(key: string): Stored | undefined {
    return this.#collections.get(collectionOf(key))?.get(key);
  }

  list(prefix: string): Stored[] {
    return [...(this.#collections.get(collectionOf(prefix))?.list(prefix) ?? [])];
  }

  page(prefix: string, { revision = this.#revision, ...options }: PageOptions = {}): Page | undefined {
    const past = revision === this.#revision ? options : { ...options, revision };
    return this.#collection(prefix).page(prefix, past);
  }

  *all(): Generator<Stored> {
    for (const collection of this.#collections.values()) yield* collection.list("");
  }

  watch(prefix: string, after: number, listener: (event: StoreEvent) => void): (() => void) | undefined {
    return this.#collection(prefix).watch(prefix, after, listener);
  }

  watchAll(listener: (event: StoreEvent) => void): () => void {
    this.#everything.add(listener);
    return () => this.#everything.delete(listener);
  }

  compact(): void {
    this.#compactedRevision = this.#revision;
    for (const collection of this.#collections.values()) collection.compact(this.#revision);
  }

  /** The next revision is in the event. */
  apply(event: StoreEvent): void {
    this.#revision = event.revision;
    this.#collection(event.object.key).apply(event);
    for (const listener of this.#everything) listener(event);
  }

  /** No event up to this revision is missing. Other keys than those of the API have changed. */
  advance(revision: number): void {
    this.#revision = Math.max(this.#revision, revision);
  }

  #collection(key: string): Collection {
    const name = collectionOf(key);
    let collection = this.#collections.get(name);
    if (!collection) {
      // It has had no events since the last compaction, so its history reaches back to it.
      collection = new Collection(this.#compactedRevision, this.#maxEvents);
      this.#collections.set(name, collection);
    }
    return collection;
  }
}

/** The request size limit of etcd. */
const maxObjectBytes = 1.5 * 1024 * 1024;

/** Asks `decide` what to do with the current state of a key, and makes the event that does it. */
export function planCommit(
  key: string,
  previous: Stored | undefined,
  revision: number,
  decide: Decide,
): Plan {
  const decision = decide(previous);
  if (decision === undefined || (decision === "delete" && previous === undefined)) {
    return { result: previous, event: undefined };
  }
  const value = withMetadata(decision === "delete" ? (previous as Stored).value : decision, {
    resourceVersion: String(revision),
  });
  const plain = JSON.stringify(value);
  if (decision !== "delete" && plain.length > maxObjectBytes)
    throw new ApiError(500, "", "etcdserver: request is too large");
  const object: Stored = { key, revision, value, json: escapeJson(plain) };
  const type = decision === "delete" ? "DELETED" : previous ? "MODIFIED" : "ADDED";
  return { result: object, event: { type, revision, object, previous } };
}

/** The keys of services and of endpoints begin with one more common segment. */
const sharedPrefix = "/registry/services/";

/** Objects are grouped by resource: /registry/<resource>/… */
function collectionOf(key: string): string {
  const start = key.startsWith(sharedPrefix) ? sharedPrefix.length : "/registry/".length;
  return key.slice(0, key.indexOf("/", start) + 1);
}
