/**
 * The seam between the API and its storage. An implementation keeps all objects under /registry/…, one revision that
 * increases with every change, and a limited history of each resource from which watches resume. Several API servers
 * can use one store; they then behave like one cluster.
 *
 * An implementation guarantees that commits to one key are serialised, that a change is durable before a reader sees
 * it, that events arrive in the order of their revisions, and that the revision never goes back. It does not guarantee
 * that the history reaches back to a given revision.
 *
 * Reads are synchronous, from memory. A store that other processes write to can lag behind them: `caughtUp` waits.
 */
import type { Decide, Page, PageOptions, Stored, StoreEvent } from "./types.ts";

export interface Store {
  /** The revision of the last commit. */
  readonly revision: number;
  /** No history reaches back beyond this revision. The history of a busy resource can begin later. */
  readonly compactedRevision: number;

  /** Resolves when reads show every commit that anyone was told of before this call. */
  caughtUp(): Promise<void>;

  get(key: string): Stored | undefined;
  /** All objects under a prefix, ordered by key. */
  list(prefix: string): Stored[];
  /** A part of a list. Undefined if the history does not reach back to its revision. */
  page(prefix: string, options?: PageOptions): Page | undefined;
  /** All objects of all kinds, in no particular order. */
  all(): Iterable<Stored>;

  /**
   * Calls `decide` with the current state of one key, and commits its decision. No other commit to the key happens in
   * between. `decide` is called again if another process changed the key, so it must have no side effects.
   */
  commit(key: string, decide: Decide): Promise<Stored | undefined>;

  /**
   * Calls back for every change under the prefix after a revision. Undefined if the history does not reach back to
   * it.
   */
  watch(prefix: string, after: number, listener: (event: StoreEvent) => void): (() => void) | undefined;
  /** Calls back for every later change of any object. */
  watchAll(listener: (event: StoreEvent) => void): () => void;

  /** Drops the history, as etcd does every few minutes. Watches from an older revision get 410. */
  compact(): void;
  /** Why commits fail at the moment. Undefined if they work. Tries to recover first. */
  problem(): Promise<string | undefined>;
  close(): Promise<void>;
}
