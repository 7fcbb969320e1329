/** The API server: one lock object, compare-and-swap, and a stream of changes. It runs on the true time. */
import { type LeaderRecord, type LockView, sameRecord } from "@tenure/core";

export interface StoredLock extends LockView {
  /** The id of the process that wrote the record, for the checker. undefined for an edit by a person. */
  readonly writer: string | undefined;
  readonly committedMs: number;
  /** How often somebody annotated the object. Every write must keep this. */
  readonly annotations: number;
}

export type Change =
  | { readonly kind: "written"; readonly lock: StoredLock }
  | { readonly kind: "deleted"; readonly revision: bigint };

export type ServerAnswer =
  | { readonly kind: "found"; readonly view: StoredLock }
  | { readonly kind: "absent" }
  | { readonly kind: "conflict" };

export interface Write {
  readonly writer: string | undefined;
  readonly record: LeaderRecord;
  readonly over: LockView | undefined;
}

export class Server {
  isDown = false;
  readonly #now: () => number;
  readonly #onCommit: (before: StoredLock | undefined, after: StoredLock) => void;
  readonly #listeners = new Set<(change: Change) => void>();
  #revision = 100n;
  #uid = 0;
  #lock: StoredLock | undefined;

  constructor(now: () => number, onCommit: (before: StoredLock | undefined, after: StoredLock) => void) {
    this.#now = now;
    this.#onCommit = onCommit;
  }

  get lock(): StoredLock | undefined {
    return this.#lock;
  }

  read(): ServerAnswer {
    return this.#lock ? { kind: "found", view: this.#lock } : { kind: "absent" };
  }

  write(write: Write): ServerAnswer {
    const before = this.#lock;
    if (write.over === undefined) {
      if (before) return { kind: "conflict" };
      this.#uid += 1;
    } else {
      if (!before) return { kind: "absent" };
      if (before.version !== write.over.version) return { kind: "conflict" };
    }
    // A write that changes nothing keeps its version, as on a real API server.
    if (before && sameRecord(before.record, write.record)) return { kind: "found", view: before };
    return {
      kind: "found",
      view: this.#commit(before, write.record, write.writer, before?.annotations ?? 0),
    };
  }

  /** Somebody annotates the object with kubectl. */
  annotate(): void {
    const before = this.#lock;
    if (before) this.#store({ ...before, annotations: before.annotations + 1 });
  }

  /** Somebody empties the holder with an editor and leaves the duration as it is. */
  emptyByHand(): void {
    const before = this.#lock;
    if (before) this.#commit(before, { ...before.record, holderIdentity: "" }, undefined, before.annotations);
  }

  delete(): void {
    if (!this.#lock) return;
    this.#lock = undefined;
    this.#revision += 1n;
    this.#publish({ kind: "deleted", revision: this.#revision });
  }

  subscribe(listener: (change: Change) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  #commit(
    before: StoredLock | undefined,
    record: LeaderRecord,
    writer: string | undefined,
    annotations: number,
  ): StoredLock {
    const stored = this.#store({
      uid: String(this.#uid),
      version: "",
      revision: 0n,
      record,
      writer,
      committedMs: this.#now(),
      annotations,
    });
    this.#onCommit(before, stored);
    return stored;
  }

  #store(lock: StoredLock): StoredLock {
    this.#revision += 1n;
    const stored = { ...lock, revision: this.#revision, version: String(this.#revision) };
    this.#lock = stored;
    this.#publish({ kind: "written", lock: stored });
    return stored;
  }

  #publish(change: Change): void {
    for (const listener of this.#listeners) listener(change);
  }
}
