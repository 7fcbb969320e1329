/**
 * A copy of a collection that follows the API server. It may be behind, but it never goes back: when the watch could not resume,
 * the collection is read again, and what was deleted meanwhile is noticed. The copy answers from memory at any time.
 */
import { Backoff, Emitter, sleep } from "@tenure/base";
import type { WatchEvent } from "@tenure/kube";
import type { Platform } from "../platform.ts";
import { type ApiClient, collectionPath, type Resource } from "./api.ts";
import type { KubeObject } from "./objects.ts";

export interface InformerOptions<T extends KubeObject> {
  client: ApiClient;
  resource: Resource<T>;
  platform: Platform;
  /** @default all namespaces */
  namespace?: string | undefined;
  /** For example a fieldSelector. */
  query?: Readonly<Record<string, string>> | undefined;
  /** A watch that failed, or a list. Both are retried. */
  onError?: ((error: Error) => void) | undefined;
}

/** An object before and after a change. Before is missing if it is new, after if it is deleted. */
export interface Change<T> {
  readonly previous: T | undefined;
  readonly current: T | undefined;
}

interface Page<T> {
  readonly metadata?: { readonly resourceVersion?: string; readonly continue?: string };
  readonly items: readonly T[];
}

/** A page of this many objects stays below the largest response that the client accepts. */
const pageSize = "500";
const listTimeoutMs = 30_000;
const backoff = { firstMs: 100, mostMs: 5_000, jitter: 0.5 };

export class Informer<T extends KubeObject> {
  readonly #options: InformerOptions<T>;
  readonly #objects = new Map<string, T>();
  readonly #emitter: Emitter<{ change: Change<T> }>;
  /** Events that arrived while the collection is read. Missing if it is not being read. */
  #pending: WatchEvent<T>[] | undefined;
  /** Events up to this version are part of what was read. */
  #listedVersion = 0n;
  /** Counts the reads, so that a newer one replaces an older one. */
  #reads = 0;
  #markSynced = (): void => {};
  /** Resolves when the copy was complete for the first time. */
  readonly synced: Promise<void>;

  constructor(options: InformerOptions<T>) {
    this.#options = options;
    this.synced = new Promise((resolve) => {
      this.#markSynced = resolve;
    });
    this.#emitter = new Emitter((error) => options.onError?.(error as Error));
  }

  get(namespace: string | undefined, name: string): T | undefined {
    return this.#objects.get(keyOf({ namespace, name }));
  }

  /** All objects, or those of one namespace. */
  list(namespace?: string): T[] {
    const all = [...this.#objects.values()];
    return namespace === undefined ? all : all.filter(({ metadata }) => metadata.namespace === namespace);
  }

  /** Calls back for every change, also for the first read. The returned function removes the callback. */
  onChange(listener: (change: Change<T>) => void): () => void {
    return this.#emitter.on("change", listener);
  }

  /** Follows the collection until the signal aborts. */
  async run(signal: AbortSignal): Promise<void> {
    const { client, resource, namespace, query, onError } = this.#options;
    await client.watch<T>({
      path: collectionPath(resource, namespace),
      query,
      signal,
      onUp: ({ resumed }) => {
        if (!resumed) void this.#read(signal);
      },
      onDown: (error) => onError?.(error),
      onEvent: (event) => {
        if (this.#pending) this.#pending.push(event);
        else this.#apply(event);
      },
    });
  }

  /** Reads the collection, until it succeeds. Events that arrive meanwhile are applied afterwards. */
  async #read(signal: AbortSignal): Promise<void> {
    const { platform, onError } = this.#options;
    const wait = new Backoff(backoff, platform.random);
    const read = ++this.#reads;
    this.#pending = [];
    while (!signal.aborted && read === this.#reads) {
      try {
        const { version, items } = await this.#list(signal);
        if (signal.aborted || read !== this.#reads) return;
        this.#replace(version, items);
        return;
      } catch (error) {
        if (signal.aborted) return;
        onError?.(error as Error);
        await sleep(platform.clock, wait.next(), signal);
      }
    }
  }

  async #list(signal: AbortSignal): Promise<{ version: bigint; items: T[] }> {
    const { client, resource, namespace, query } = this.#options;
    const items: T[] = [];
    for (let token: string | undefined; ; ) {
      const page: Page<T> = await client.request<Page<T>>({
        method: "GET",
        path: collectionPath(resource, namespace),
        query: { ...query, limit: pageSize, continue: token },
        timeoutMs: listTimeoutMs,
        signal,
      });
      items.push(...page.items);
      token = page.metadata?.continue || undefined;
      // All pages are of the version of the first.
      if (token === undefined) return { version: BigInt(page.metadata?.resourceVersion ?? "0"), items };
    }
  }

  #replace(version: bigint, items: readonly T[]): void {
    const pending = this.#pending ?? [];
    this.#pending = undefined;
    this.#listedVersion = version;
    const listed = new Map(items.map((item) => [keyOf(item.metadata), item]));
    for (const key of [...this.#objects.keys()]) if (!listed.has(key)) this.#set(key, undefined);
    for (const [key, item] of listed) this.#set(key, item);
    for (const event of pending) this.#apply(event);
    this.#markSynced();
  }

  #apply({ type, object }: WatchEvent<T>): void {
    // A new watch starts with the current objects, which may be older than what was read.
    if (BigInt(object.metadata.resourceVersion) <= this.#listedVersion) return;
    this.#set(keyOf(object.metadata), type === "DELETED" ? undefined : object, object);
  }

  /** @param last what the server reported last about a deleted object */
  #set(key: string, current: T | undefined, last?: T): void {
    const previous = this.#objects.get(key);
    if (previous?.metadata.resourceVersion === current?.metadata.resourceVersion) return;
    // The name was used again, and the deletion in between was not reported.
    if (previous && current && previous.metadata.uid !== current.metadata.uid) {
      this.#objects.delete(key);
      this.#emitter.emit("change", { previous, current: undefined });
      this.#set(key, current);
      return;
    }
    if (current) this.#objects.set(key, current);
    else this.#objects.delete(key);
    this.#emitter.emit("change", { previous: current ? previous : (last ?? previous), current });
  }
}

/** `namespace/name`, or `name` of an object without a namespace. */
export function keyOf({ namespace, name }: { namespace?: string | undefined; name: string }): string {
  return namespace ? `${namespace}/${name}` : name;
}

/** The opposite of `keyOf`. */
export function splitKey(key: string): { namespace: string; name: string } {
  const slash = key.indexOf("/");
  return { namespace: key.slice(0, Math.max(slash, 0)), name: key.slice(slash + 1) };
}
