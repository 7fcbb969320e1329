/**
 * All objects of one resource in the namespace, except the locks, which have rules of their own. Writes compare and swap, patches
 * merge, lists and watches select by name or label, as on a real API server.
 */
import { isDeepStrictEqual } from "node:util";
import type { Store } from "../server.ts";
import {
  type Changes,
  type Endpoint,
  type HttpAnswer,
  type HttpRequest,
  mostLines,
  type StatusOptions,
  statusAnswer,
  type WatchLine,
} from "./endpoint.ts";
import { namespace } from "./objects.ts";

export interface ApiObject {
  readonly metadata: {
    readonly name: string;
    readonly uid?: string;
    readonly resourceVersion?: string;
    readonly creationTimestamp?: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  readonly spec?: Readonly<Record<string, unknown>>;
}

interface Change {
  readonly revision: bigint;
  readonly before: ApiObject | undefined;
  readonly after: ApiObject | undefined;
}

type Selector = (object: ApiObject) => boolean;

export interface Resource {
  readonly group: string;
  readonly plural: string;
}

export class Collection implements Endpoint {
  readonly resource: Resource;
  readonly #store: Store;
  readonly #now: () => number;
  readonly #watchers = new Set<(change: Change | "restored") => void>();
  #objects = new Map<string, ApiObject>();
  #changes: Change[] = [];
  #oldestRevision: bigint;
  #uids = 0;

  /** @param now the time by the clock of the server */
  constructor(resource: Resource, store: Store, now: () => number) {
    this.resource = resource;
    this.#store = store;
    this.#now = now;
    this.#oldestRevision = store.revision;
    store.addPart(() => {
      const objects = new Map(this.#objects);
      return () => this.#restore(objects);
    });
  }

  get objects(): readonly ApiObject[] {
    return [...this.#objects.values()];
  }

  get(name: string): ApiObject | undefined {
    return this.#objects.get(name);
  }

  handle({ method, path, body }: HttpRequest): HttpAnswer {
    const name = nameIn(path, this.resource);
    const sent = body === "" ? undefined : (JSON.parse(body) as ApiObject & DeleteOptions);
    if (method === "POST") return this.#create(sent as ApiObject);
    if (name === undefined) return this.#list(path);
    const before = this.#objects.get(name);
    if (!before) return this.status(404, "NotFound", {}, name);
    switch (method) {
      case "PUT":
        return isSameVersion(before, sent?.metadata)
          ? this.#stored(this.put(sent as ApiObject))
          : this.status(409, "Conflict", {}, name);
      case "PATCH":
        return this.#stored(this.put(merge(before, sent) as ApiObject));
      case "DELETE":
        if (!isSameVersion(before, sent?.preconditions)) return this.status(409, "Conflict", {}, name);
        this.delete(name);
        return { status: 200, headers: {}, body: JSON.stringify(before) };
      default:
        return this.#stored(before);
    }
  }

  status(code: number, reason: string, options?: StatusOptions, name = ""): HttpAnswer {
    return statusAnswer({ name, ...this.resource }, code, reason, options);
  }

  /** Stores an object, whatever is there. One that does not change keeps its version. */
  put(object: ApiObject): ApiObject {
    const { name } = object.metadata;
    const before = this.#objects.get(name);
    const metadata = {
      ...object.metadata,
      namespace,
      uid: before?.metadata.uid ?? `${this.resource.plural}-${++this.#uids}`,
      creationTimestamp: before?.metadata.creationTimestamp ?? new Date(this.#now()).toISOString(),
    };
    const resourceVersion = before?.metadata.resourceVersion;
    if (before && isDeepStrictEqual(before, { ...object, metadata: { ...metadata, resourceVersion } }))
      return before;
    this.#store.revision += 1n;
    const after = { ...object, metadata: { ...metadata, resourceVersion: String(this.#store.revision) } };
    this.#objects.set(name, after);
    this.#publish({ revision: this.#store.revision, before, after });
    return after;
  }

  delete(name: string): void {
    const before = this.#objects.get(name);
    if (!before) return;
    this.#objects.delete(name);
    this.#store.revision += 1n;
    this.#publish({ revision: this.#store.revision, before, after: undefined });
  }

  changes(path: string): Changes {
    const selects = selectorIn(path);
    const lines = (changes: readonly Change[]) =>
      changes.map((change) => lineOf(change, selects)).filter((line) => line !== undefined);
    const added = (object: ApiObject): WatchLine => ({ type: "ADDED", revision: revisionOf(object), object });
    return {
      current: () => this.objects.filter(selects).map(added),
      since: (revision) =>
        revision < this.#oldestRevision
          ? undefined
          : lines(this.#changes.filter((change) => change.revision > revision)),
      forgetHistory: () => this.#forgetHistory(),
      subscribe: (watcher) => {
        const watch = (change: Change | "restored") => {
          const line = change === "restored" ? change : lineOf(change, selects);
          if (line) watcher(line);
        };
        this.#watchers.add(watch);
        return () => this.#watchers.delete(watch);
      },
    };
  }

  #create(object: ApiObject): HttpAnswer {
    const { name } = object.metadata;
    if (this.#objects.has(name)) return this.status(409, "AlreadyExists", {}, name);
    return { ...this.#stored(this.put(object)), status: 201 };
  }

  #list(path: string): HttpAnswer {
    const metadata = { resourceVersion: String(this.#store.revision) };
    const items = this.objects.filter(selectorIn(path));
    return { status: 200, headers: {}, body: JSON.stringify({ kind: "List", metadata, items }) };
  }

  #stored(object: ApiObject): HttpAnswer {
    return { status: 200, headers: {}, body: JSON.stringify(object) };
  }

  #publish(change: Change): void {
    this.#changes.push(change);
    if (this.#changes.length > mostLines) {
      this.#oldestRevision = this.#changes[0]?.revision ?? 0n;
      this.#changes.shift();
    }
    for (const watcher of [...this.#watchers]) watcher(change);
  }

  #restore(objects: ReadonlyMap<string, ApiObject>): void {
    this.#objects = new Map(objects);
    this.#forgetHistory();
    for (const watcher of [...this.#watchers]) watcher("restored");
  }

  #forgetHistory(): void {
    this.#changes = [];
    this.#oldestRevision = this.#store.revision;
  }
}

interface DeleteOptions {
  readonly preconditions?: Precondition;
}

interface Precondition {
  readonly uid?: string;
  readonly resourceVersion?: string;
}

function isSameVersion({ metadata }: ApiObject, { uid, resourceVersion }: Precondition = {}): boolean {
  return (
    (uid === undefined || uid === metadata.uid) &&
    (resourceVersion === undefined || resourceVersion === metadata.resourceVersion)
  );
}

/** An object that begins or ceases to match the selector appears or disappears for its watch. */
function lineOf({ revision, before, after }: Change, selects: Selector): WatchLine | undefined {
  const matched = before && selects(before) ? before : undefined;
  const matches = after && selects(after) ? after : undefined;
  if (matches) return { type: matched ? "MODIFIED" : "ADDED", revision, object: matches };
  if (!matched) return undefined;
  const metadata = { ...matched.metadata, resourceVersion: String(revision) };
  return { type: "DELETED", revision, object: { ...matched, metadata } };
}

function selectorIn(path: string): Selector {
  const query = new URLSearchParams(path.split("?")[1]);
  const [, name] = query.get("fieldSelector")?.split("=") ?? [];
  const [label, value] = query.get("labelSelector")?.split("=") ?? [];
  return ({ metadata }) =>
    (name === undefined || metadata.name === name) &&
    (label === undefined || metadata.labels?.[label] === value);
}

/** The name of the object that a path is about; undefined for the collection. */
export function nameIn(path: string, { plural }: Pick<Resource, "plural">): string | undefined {
  const parts = (path.split("?")[0] ?? "").split("/");
  return parts[parts.indexOf(plural) + 1];
}

function revisionOf({ metadata }: ApiObject): bigint {
  return BigInt(metadata.resourceVersion ?? 0);
}

/** RFC 7386. */
function merge(before: unknown, patch: unknown): unknown {
  if (!isRecord(patch)) return patch;
  const merged: Record<string, unknown> = isRecord(before) ? { ...before } : {};
  for (const [name, value] of Object.entries(patch)) {
    if (value === null) delete merged[name];
    else merged[name] = merge(merged[name], value);
  }
  return merged;
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
