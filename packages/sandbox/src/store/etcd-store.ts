/**
 * A store in etcd, with Kubernetes' own keys and JSON values, so that several API servers can share it, among them a
 * real kube-apiserver with --storage-media-type=application/json. Revisions are those of etcd.
 *
 * Reads come from memory, which a watch keeps up to date. A commit is a transaction that compares the revision of the
 * key. It resolves when the watch has delivered it, so that a client reads its own writes from this server.
 */
import { type Clock, first, onAbort } from "@tenure/base";
import {
  Connection,
  compareModRevision,
  deletion,
  detailsOf,
  grantLease,
  type KeyValue,
  range,
  txn,
  type WatchResponse,
} from "@tenure/etcd/internal";
import { jsonText } from "../objects/json-text.ts";
import { type ApiObject, withMetadata } from "../objects/object.ts";
import { ApiError } from "../objects/status.ts";
import { checkVersions } from "./etcd-version.ts";
import { EtcdWatch } from "./etcd-watch.ts";
import { EventLeases, isEventKey } from "./event-leases.ts";
import { Limiter } from "./limiter.ts";
import { MemoryIndex, type Plan, planCommit, type StoreContent } from "./memory-index.ts";
import type { Store } from "./store.ts";
import type { Decide, Page, PageOptions, Stored, StoreEvent } from "./types.ts";

export interface EtcdStoreOptions {
  /** The members: `["https://a:2379", "https://b:2379"]`. */
  readonly endpoints: readonly string[];
  readonly username?: string | undefined;
  readonly password?: string | undefined;
  /** Certificates in PEM, for https endpoints. */
  readonly tls?: { readonly ca?: string; readonly cert?: string; readonly key?: string } | undefined;
}

interface Parts {
  readonly clock: Clock;
  /** A number in [0, 1). */
  readonly random: () => number;
}

const prefix = "/registry/";
/** The first key behind the prefix. */
const behindPrefix = "/registry0";
const pageSize = 500n;
const requestMs = 10_000;
/** The limit counts from when a request is sent. At the start there are some hundreds at once. */
const mostInFlight = 32;
const progressMs = 20;
/** More conflicts in a row than this are not caused by other writers. */
const mostConflicts = 100;

/** Reads everything, and follows the changes. Rejects if etcd cannot be reached, or is too old. */
export async function openEtcdStore(options: EtcdStoreOptions, parts: Parts): Promise<Store> {
  const connection = new Connection({ ...options }, parts.clock);
  try {
    await checkVersions(options.endpoints, parts.clock, { ...options });
    const content = await readAll(connection, new AbortController().signal);
    return new EtcdStore(connection, new Connection({ ...options }, parts.clock), content, parts);
  } catch (error) {
    connection.close();
    throw error;
  }
}

class EtcdStore implements Store {
  readonly #connection: Connection;
  readonly #index: MemoryIndex;
  readonly #clock: Clock;
  readonly #ending = new AbortController();
  readonly #watch: EtcdWatch;
  readonly #watching: Promise<void>;
  readonly #waiting = new Set<() => void>();
  readonly #limiter = new Limiter(mostInFlight);
  readonly #leases: EventLeases;

  constructor(connection: Connection, watchConnection: Connection, content: StoreContent, parts: Parts) {
    this.#connection = connection;
    this.#index = new MemoryIndex(content);
    this.#clock = parts.clock;
    this.#leases = new EventLeases(parts.clock, async (seconds) => {
      const request = { ttl: BigInt(seconds) };
      return (await connection.call(grantLease, request, this.#ending.signal, requestMs)).lease;
    });
    this.#watch = new EtcdWatch({
      ...parts,
      connection: watchConnection,
      key: Buffer.from(prefix),
      rangeEnd: Buffer.from(behindPrefix),
      after: () => this.revision,
      onResponse: (response) => this.#onResponse(response),
      onCompacted: () => this.#readAgain(),
    });
    this.#watching = this.#watch.run(this.#ending.signal);
  }

  get revision(): number {
    return this.#index.revision;
  }

  get compactedRevision(): number {
    return this.#index.compactedRevision;
  }

  async caughtUp(): Promise<void> {
    const request = { key: Buffer.from(prefix), rangeEnd: Buffer.from(behindPrefix), countOnly: true };
    const { header } = await this.#ask(() =>
      this.#connection.call(range, request, this.#ending.signal, requestMs),
    );
    await this.#until(Number(header.revision));
  }

  get(key: string): Stored | undefined {
    return this.#index.get(key);
  }

  list(under: string): Stored[] {
    return this.#index.list(under);
  }

  page(under: string, options?: PageOptions): Page | undefined {
    return this.#index.page(under, options);
  }

  all(): Iterable<Stored> {
    return this.#index.all();
  }

  watch(under: string, after: number, listener: (event: StoreEvent) => void): (() => void) | undefined {
    return this.#index.watch(under, after, listener);
  }

  watchAll(listener: (event: StoreEvent) => void): () => void {
    return this.#index.watchAll(listener);
  }

  /** Only the history of this server. That of etcd belongs to all. */
  compact(): void {
    this.#index.compact();
  }

  async commit(key: string, decide: Decide): Promise<Stored | undefined> {
    let current = this.get(key);
    for (let conflicts = 0; conflicts < mostConflicts; conflicts++) {
      let plan: Plan | { readonly error: unknown };
      try {
        plan = planCommit(key, current, 0, decide);
      } catch (error) {
        plan = { error };
      }
      if ("error" in plan || plan.event === undefined) {
        // The memory may be late. A decision to fail or to change nothing must not rest on an old state.
        const now = await this.#readNow(key);
        if (now?.revision !== current?.revision) current = now;
        else if ("error" in plan) throw plan.error;
        else return plan.result;
        continue;
      }
      const { event } = plan;
      const outcome = await this.#write(key, current, event);
      if (outcome.committed !== undefined) {
        // If the watch is late, the write is stored all the same, and reads wait for it.
        await this.#until(outcome.committed.revision).catch(() => {});
        return outcome.committed;
      }
      current = outcome.now;
    }
    throw new ApiError(500, "InternalError", `the key ${key} changed before each of ${mostConflicts} writes`);
  }

  async problem(): Promise<string | undefined> {
    try {
      await this.caughtUp();
      return undefined;
    } catch (error) {
      return (error as Error).message;
    }
  }

  async close(): Promise<void> {
    this.#ending.abort();
    await this.#watching;
    this.#connection.close();
  }

  /** Writes if the key still has the revision of `current`. Otherwise returns what it has now. */
  async #write(
    key: string,
    current: Stored | undefined,
    { type, object }: StoreEvent,
  ): Promise<{ committed?: Stored; now?: Stored | undefined }> {
    const bytes = Buffer.from(key);
    // As kube-apiserver does: the revision of the key is the resourceVersion.
    const { resourceVersion, ...metadata } = object.value.metadata;
    const stored = { ...object.value, metadata };
    const lease =
      type !== "DELETED" && isEventKey(key) ? await this.#ask(() => this.#leases.current()) : undefined;
    const operation =
      type === "DELETED"
        ? { delete: { key: bytes } }
        : { put: { key: bytes, value: Buffer.from(JSON.stringify(stored)), ...(lease && { lease }) } };
    const modRevision = BigInt(current?.revision ?? 0);
    const request = {
      compare: [{ target: compareModRevision, key: bytes, modRevision }],
      success: [operation],
      failure: [{ range: { key: bytes } }],
    };
    // After a lost answer nobody knows whether it was committed. The client has to be told, and to look.
    const { succeeded, header, responses } = await this.#ask(() =>
      this.#connection.call(txn, request, this.#ending.signal, requestMs, false),
    );
    if (succeeded) return { committed: storedAt(key, Number(header.revision), object.value) };
    const [kv] = responses[0]?.range?.kvs ?? [];
    return { now: kv && storedOf(kv) };
  }

  async #readNow(key: string): Promise<Stored | undefined> {
    const request = { key: Buffer.from(key) };
    const { kvs } = await this.#ask(() =>
      this.#connection.call(range, request, this.#ending.signal, requestMs),
    );
    return kvs[0] && storedOf(kvs[0]);
  }

  #onResponse({ events, header }: WatchResponse): void {
    for (const { type, kv } of events) {
      const key = Buffer.from(kv.key).toString();
      this.#apply(key, Number(kv.modRevision), type === deletion ? undefined : storedOf(kv));
    }
    // Only a response without events promises that nothing older follows.
    if (events.length === 0) this.#index.advance(Number(header.revision));
    for (const wake of this.#waiting) wake();
  }

  /** @param next undefined if the key was deleted, or has a value that is not JSON */
  #apply(key: string, revision: number, next: Stored | undefined): void {
    const previous = this.get(key);
    const object = next ?? (previous && storedAt(key, revision, previous.value));
    if (object === undefined) this.#index.advance(revision);
    else {
      const type = next === undefined ? "DELETED" : previous ? "MODIFIED" : "ADDED";
      this.#index.apply({ type, revision, object, previous });
    }
  }

  /** etcd no longer has the events that are missing here. Watchers get the difference, and may miss what was in between. */
  async #readAgain(): Promise<void> {
    const { revision, entries } = await readAll(this.#connection, this.#ending.signal);
    const present = new Map(
      entries.map(({ key, json }) => {
        const value = JSON.parse(json) as ApiObject;
        return [key, storedAt(key, Number(value.metadata.resourceVersion), value)];
      }),
    );
    const changed = [...present.values()].filter((object) => object.revision > this.revision);
    const gone = [...this.all()].filter(({ key }) => !present.has(key));
    for (const object of changed.sort((a, b) => a.revision - b.revision))
      this.#apply(object.key, object.revision, object);
    for (const { key } of gone) this.#apply(key, revision, undefined);
    this.#index.advance(revision);
    this.#index.compact();
    for (const wake of this.#waiting) wake();
  }

  /** Resolves when all changes up to this revision are in memory. */
  async #until(revision: number): Promise<void> {
    const { signal } = this.#ending;
    const endMs = this.#clock.now().monoMs + requestMs;
    while (this.revision < revision) {
      if (signal.aborted || this.#clock.now().monoMs > endMs) throw timedOut("the watch of etcd is late");
      this.#watch.askForProgress();
      const changed = new Promise<void>((resolve) => {
        const wake = () => {
          this.#waiting.delete(wake);
          resolve();
        };
        this.#waiting.add(wake);
        onAbort(signal, wake);
      });
      await first(this.#clock, { changed, again: progressMs });
    }
  }

  async #ask<T>(send: () => Promise<T>): Promise<T> {
    try {
      return await this.#limiter.run(send);
    } catch (error) {
      throw timedOut(detailsOf(error));
    }
  }
}

function timedOut(why: string): ApiError {
  return new ApiError(500, "InternalError", `etcd does not answer: ${why}`);
}

/** All objects, as they were at one revision. */
async function readAll(connection: Connection, signal: AbortSignal): Promise<StoreContent> {
  const entries: StoreContent["entries"] = [];
  let revision = 0n;
  let key = Buffer.from(prefix);
  for (;;) {
    const at = revision > 0n ? { revision } : {};
    const request = { key, rangeEnd: Buffer.from(behindPrefix), limit: pageSize, ...at };
    const { header, kvs, more } = await connection.call(range, request, signal, requestMs);
    if (revision === 0n) revision = header.revision;
    for (const kv of kvs) {
      const object = storedOf(kv);
      if (object) entries.push({ key: object.key, json: object.json });
    }
    const last = kvs.at(-1);
    if (!more || !last) return { revision: Number(revision), entries };
    key = Buffer.concat([last.key, Buffer.from([0])]);
  }
}

/** Undefined for a value that is no JSON object: kube-apiserver also keeps other things under /registry. */
function storedOf({ key, modRevision, value }: KeyValue): Stored | undefined {
  try {
    const parsed = JSON.parse(Buffer.from(value).toString());
    if (typeof parsed?.metadata !== "object" || parsed.metadata === null) return undefined;
    return storedAt(Buffer.from(key).toString(), Number(modRevision), parsed);
  } catch {
    return undefined;
  }
}

function storedAt(key: string, revision: number, stored: ApiObject): Stored {
  const value = withMetadata(stored, { resourceVersion: String(revision) });
  return { key, revision, value, json: jsonText(value) };
}
