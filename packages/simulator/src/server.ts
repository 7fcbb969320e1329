/** The API server: a store, and in it lock objects with compare-and-swap and a stream of changes. It runs on the true time. */
import { type LeaderRecord, type LockView, sameRecord } from "@tenure/core";
import { ordersFrom } from "@tenure/election/internal";

export type Annotations = Readonly<Record<string, string>>;

export interface StoredLock extends LockView {
  /** The id of the process that wrote the record, for the checker. undefined for an edit by a person. */
  readonly writer: string | undefined;
  readonly committedMs: number;
  /** Everything in the object beside the record. Every write of a candidate must keep it. */
  readonly object: { readonly annotations: Annotations };
  /** Somebody made the record unreadable with an editor. */
  readonly isUnreadable: boolean;
  /** Counts restores of the store. Revisions of different timelines are not comparable. */
  readonly timeline: number;
}

export type Change =
  | { readonly kind: "written"; readonly lock: StoredLock }
  | { readonly kind: "deleted"; readonly revision: bigint }
  /** The server starts again with another store. All watches end. */
  | { readonly kind: "restored" };

export type ServerAnswer =
  | { readonly kind: "found"; readonly view: StoredLock }
  | { readonly kind: "absent" }
  | { readonly kind: "conflict" };

export interface Write {
  readonly writer: string;
  readonly record: LeaderRecord;
  /** The version that the writer read. undefined: the write creates the lock. */
  readonly over: { readonly version: string; readonly timeline: number } | undefined;
  /** The annotations as the writer sends them. The server stores what it gets. */
  readonly annotations: Annotations;
}

export interface Backup {
  readonly locks: readonly (StoredLock | undefined)[];
  readonly revision: bigint;
  /** Restore everything else. */
  readonly restoreParts: readonly (() => void)[];
}

interface ServerListener {
  committed(before: StoredLock | undefined, after: StoredLock): void;
  /** A write replaced a version that its writer never saw: after a restore, the same version number was given twice. */
  versionReused(): void;
}

/** Gives revisions in one order to all its objects. */
export class Store {
  isDown = false;
  revision = 100n;
  /** Counts restores. */
  timeline = 0;
  uids = 0;
  /** A write that changes nothing gets a new version all the same. An API server does not store such a write. */
  isEveryWriteNew = false;
  readonly servers: Server[] = [];
  /** The uid of the lock with this number. */
  uidOf: (number: string, timeline: number) => string = (number) => number;

  readonly #parts: (() => () => void)[] = [];

  /** @param backUp backs up something else in this store, and returns how to restore it */
  addPart(backUp: () => () => void): void {
    this.#parts.push(backUp);
  }

  backup(): Backup {
    return {
      locks: this.servers.map(({ lock }) => lock),
      revision: this.revision,
      restoreParts: this.#parts.map((backUp) => backUp()),
    };
  }

  /** Somebody restores the store from a backup. Revisions that were given since then are given again. */
  restore({ locks, revision, restoreParts }: Backup): void {
    this.timeline += 1;
    this.revision = revision;
    for (const restore of restoreParts) restore();
    this.servers.forEach((server, index) => {
      const lock = locks[index];
      server.replace(lock && { ...lock, uid: this.uidOf(numberIn(lock.uid), this.timeline) });
    });
  }
}

/** One lock object. */
export class Server {
  readonly store: Store;
  readonly #now: () => number;
  readonly #listener: ServerListener;
  readonly #watchers = new Set<(change: Change) => void>();
  #lock: StoredLock | undefined;

  constructor(store: Store, now: () => number, listener: ServerListener) {
    this.store = store;
    this.#now = now;
    this.#listener = listener;
    store.servers.push(this);
  }

  get isDown(): boolean {
    return this.store.isDown;
  }

  get lock(): StoredLock | undefined {
    return this.#lock;
  }

  get revision(): bigint {
    return this.store.revision;
  }

  read(): ServerAnswer {
    return this.#lock ? { kind: "found", view: this.#lock } : { kind: "absent" };
  }

  write(write: Write): ServerAnswer {
    const before = this.#lock;
    const { over, record, annotations } = write;
    if (over === undefined) {
      if (before) return { kind: "conflict" };
      this.store.uids += 1;
    } else {
      if (!before) return { kind: "absent" };
      if (before.version !== over.version) return { kind: "conflict" };
      if (before.timeline !== over.timeline) this.#listener.versionReused();
    }
    // A write that changes nothing keeps its version, as on a real API server.
    const isSame =
      before && sameRecord(before.record, record) && areEqual(before.object.annotations, annotations);
    if (isSame && !this.store.isEveryWriteNew) return { kind: "found", view: before };
    // A candidate accepts a transfer: the record, and who wrote it when, stay as they are.
    if (before && sameRecord(before.record, record))
      return { kind: "found", view: this.#store({ ...before, object: { annotations } }) };
    return { kind: "found", view: this.#commit(before, record, write.writer, annotations) };
  }

  /** Somebody sets annotations with kubectl, or removes those that are undefined. */
  annotate(changes: Readonly<Record<string, string | undefined>>): void {
    const before = this.#lock;
    if (!before) return;
    const annotations: Record<string, string> = { ...before.object.annotations };
    for (const [name, value] of Object.entries(changes)) {
      if (value === undefined) delete annotations[name];
      else annotations[name] = value;
    }
    if (!areEqual(before.object.annotations, annotations))
      this.#store({ ...before, object: { annotations } });
  }

  /** Somebody empties the holder with an editor and leaves the duration as it is. */
  emptyByHand(): void {
    const before = this.#lock;
    if (!before || before.record.holderIdentity === "") return;
    this.#commit(before, { ...before.record, holderIdentity: "" }, undefined, before.object.annotations);
  }

  /** The API server names the leader of a coordinated election. */
  nameHolder(record: LeaderRecord, annotations: Annotations): void {
    if (!this.#lock) this.store.uids += 1;
    this.#commit(this.#lock, record, undefined, annotations);
  }

  setUnreadable(isUnreadable: boolean): void {
    if (this.#lock && this.#lock.isUnreadable !== isUnreadable) this.#store({ ...this.#lock, isUnreadable });
  }

  delete(): void {
    if (!this.#lock) return;
    this.#lock = undefined;
    this.store.revision += 1n;
    this.#publish({ kind: "deleted", revision: this.store.revision });
  }

  /** The store is restored from a backup with this lock. */
  replace(lock: StoredLock | undefined): void {
    this.#lock = lock;
    this.#publish({ kind: "restored" });
  }

  subscribe(watcher: (change: Change) => void): () => void {
    this.#watchers.add(watcher);
    return () => this.#watchers.delete(watcher);
  }

  #commit(
    before: StoredLock | undefined,
    record: LeaderRecord,
    writer: string | undefined,
    annotations: Annotations,
  ): StoredLock {
    const stored = this.#store({
      uid: before?.uid ?? this.store.uidOf(String(this.store.uids), this.store.timeline),
      version: "",
      revision: 0n,
      record,
      writer,
      committedMs: this.#now(),
      object: { annotations },
      isUnreadable: false,
      timeline: this.store.timeline,
    });
    this.#listener.committed(before, stored);
    return stored;
  }

  #store(lock: StoredLock): StoredLock {
    this.store.revision += 1n;
    const { orders: _, ...rest } = lock;
    const orders = ordersFrom(lock.object.annotations);
    const stored: StoredLock = {
      ...rest,
      ...(orders && { orders }),
      revision: this.store.revision,
      version: String(this.store.revision),
      timeline: this.store.timeline,
    };
    this.#lock = stored;
    this.#publish({ kind: "written", lock: stored });
    return stored;
  }

  #publish(change: Change): void {
    for (const watcher of [...this.#watchers]) watcher(change);
  }
}

/** The number of a lock, from its uid. */
function numberIn(uid: string): string {
  return uid.slice(uid.indexOf("-") + 1);
}

function areEqual(a: Annotations, b: Annotations): boolean {
  const names = Object.keys(a);
  return names.length === Object.keys(b).length && names.every((name) => a[name] === b[name]);
}
