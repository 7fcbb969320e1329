/**
 * The store of one process: in memory, or also on disk if it has a journal. Commits that wait for the disk are written
 * together, so many clients do not pay for many syncs.
 */
import { MemoryIndex, type Plan, planCommit, type StoreContent } from "./memory-index.ts";
import type { Store } from "./store.ts";
import type { Decide, Page, PageOptions, Stored, StoreEvent } from "./types.ts";

export interface JournalEntry {
  revision: number;
  key: string;
  /** Undefined deletes the key. */
  json: string | undefined;
}

/** Stores commits permanently, before they take effect. */
export interface Journal {
  /** Stores all entries or none. After an error it is unknown which, until `recover` tells. */
  write(entries: JournalEntry[]): Promise<void>;
  /** Makes writes possible again after an error. Returns the last stored revision, or fails if it cannot help. */
  recover(): Promise<number>;
  close(): Promise<void>;
}

interface LocalStoreOptions {
  /** @default in memory only */
  journal?: Journal;
  /** @default empty */
  content?: StoreContent;
  /** How many events the history of each resource keeps. @default 4096 */
  historyEvents?: number;
}

/** A commit that waits for its turn. */
interface Waiting {
  key: string;
  decide: Decide;
  resolve(result: Stored | undefined): void;
  reject(error: unknown): void;
}

/** Limits the time that the first of many waiting commits waits for the others. */
const maxBatch = 128;

export class LocalStore implements Store {
  readonly #index: MemoryIndex;
  readonly #journal: Journal | undefined;
  #waiting: Waiting[] = [];
  /** The loop that writes to the journal, while it runs. */
  #writing: Promise<void> | undefined;
  /** The error of the last write, and the events that it may or may not have stored. */
  #failure: { error: unknown; events: StoreEvent[] } | undefined;

  constructor({ journal, content, historyEvents }: LocalStoreOptions = {}) {
    this.#journal = journal;
    this.#index = new MemoryIndex(content, historyEvents);
  }

  get revision(): number {
    return this.#index.revision;
  }

  get compactedRevision(): number {
    return this.#index.compactedRevision;
  }

  /** No other process writes to this store. */
  async caughtUp(): Promise<void> {}

  get(key: string): Stored | undefined {
    return this.#index.get(key);
  }

  list(prefix: string): Stored[] {
    return this.#index.list(prefix);
  }

  page(prefix: string, options?: PageOptions): Page | undefined {
    return this.#index.page(prefix, options);
  }

  all(): Iterable<Stored> {
    return this.#index.all();
  }

  watch(prefix: string, after: number, listener: (event: StoreEvent) => void): (() => void) | undefined {
    return this.#index.watch(prefix, after, listener);
  }

  watchAll(listener: (event: StoreEvent) => void): () => void {
    return this.#index.watchAll(listener);
  }

  compact(): void {
    this.#index.compact();
  }

  async commit(key: string, decide: Decide): Promise<Stored | undefined> {
    if (this.#journal === undefined) {
      const plan = planCommit(key, this.get(key), this.revision + 1, decide);
      if (plan.event) this.#index.apply(plan.event);
      return plan.result;
    }
    return new Promise((resolve, reject) => {
      this.#waiting.push({ key, decide, resolve, reject });
      this.#writing ??= this.#writeAll(this.#journal as Journal);
    });
  }

  async problem(): Promise<string | undefined> {
    if (this.#journal === undefined || this.#failure === undefined) return undefined;
    // The loop recovers before it writes. This commit changes nothing.
    await this.commit("/registry/none/none", () => undefined).catch(() => undefined);
    return this.#failure && messageOf((this.#failure as { error: unknown }).error);
  }

  async close(): Promise<void> {
    await this.#writing;
    await this.#journal?.close();
  }

  async #writeAll(journal: Journal): Promise<void> {
    // The first batch starts in the next turn of the event loop, together with everything else of this turn.
    await Promise.resolve();
    while (this.#waiting.length > 0) {
      const batch = this.#waiting.splice(0, maxBatch);
      try {
        await this.#recover(journal);
        await this.#writeBatch(journal, batch);
      } catch (error) {
        // A decision of this batch may build on a change that is not stored, so all of them fail.
        for (const { reject } of batch) reject(error);
      }
    }
    this.#writing = undefined;
  }

  async #writeBatch(journal: Journal, batch: Waiting[]): Promise<void> {
    const pending = new Map<string, Stored | undefined>();
    const outcomes: (() => void)[] = [];
    const events: StoreEvent[] = [];
    for (const { key, decide, resolve, reject } of batch) {
      const current = pending.has(key) ? pending.get(key) : this.get(key);
      let plan: Plan;
      try {
        plan = planCommit(key, current, this.revision + events.length + 1, decide);
      } catch (error) {
        outcomes.push(() => reject(error));
        continue;
      }
      const { event, result } = plan;
      if (event) {
        events.push(event);
        pending.set(key, event.type === "DELETED" ? undefined : event.object);
      }
      outcomes.push(() => {
        if (event) this.#index.apply(event);
        resolve(result);
      });
    }
    if (events.length > 0) {
      try {
        await journal.write(events.map(toEntry));
      } catch (error) {
        this.#failure = { error, events };
        throw error;
      }
    }
    for (const finish of outcomes) finish();
  }

  /** After a failed write, finds out what is stored, and shows it to readers. */
  async #recover(journal: Journal): Promise<void> {
    if (!this.#failure) return;
    const { events } = this.#failure;
    let revision: number;
    try {
      revision = await journal.recover();
    } catch (error) {
      this.#failure = { error, events };
      throw error;
    }
    this.#failure = undefined;
    for (const event of events) if (event.revision <= revision) this.#index.apply(event);
  }
}

function toEntry({ type, revision, object: { key, json } }: StoreEvent): JournalEntry {
  return { revision, key, json: type === "DELETED" ? undefined : json };
}

function messageOf(error: unknown): string {
  const { message, cause } = error as Error & { cause?: Error };
  return cause ? `${message}: ${cause.message}` : message;
}
