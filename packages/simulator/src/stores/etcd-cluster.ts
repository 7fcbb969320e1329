/**
 * An etcd cluster with one key, as its members answer: linearizable reads, transactions that compare mod_revision, and the last
 * events. A member that lags shows events to a new watch that are older than what a read showed.
 */
import type { KeyValue, RangeResponse, TxnRequest, TxnResponse } from "@tenure/etcd/internal";
import type { Change, Server } from "../server.ts";
import { parseSent, shownAnnotations, shownRecord } from "./store-parts.ts";

export interface EtcdEvent {
  readonly type: bigint;
  readonly kv: KeyValue;
}

const key = Buffer.from("/tenure/sim");
/** How many events a lagging member may repeat to a new watch. */
const mostRecent = 4;
const put = 0n;
const deleted = 1n;

export class EtcdCluster {
  readonly server: Server;
  /** Whether clients need a token. */
  readonly authenticates: boolean;
  #tokens = 0;
  #recent: EtcdEvent[] = [];
  readonly #watchers = new Set<(event: EtcdEvent | "restored") => void>();

  constructor(server: Server, authenticates: boolean) {
    this.server = server;
    this.authenticates = authenticates;
    server.store.isEveryWriteNew = true;
    // A restored etcd is a new cluster, and so the lock in it has another uid.
    server.store.uidOf = (number, timeline) => `${timeline + 1}-${number}`;
    server.subscribe((change) => this.#changed(change));
  }

  /** The token that authenticates a client. */
  get token(): string {
    return `token-${this.#tokens}`;
  }

  /** The members accept no token any more that they have given. */
  rotate(): void {
    this.#tokens += 1;
  }

  header() {
    const { revision, timeline } = this.server.store;
    return { clusterId: BigInt(timeline + 1), revision };
  }

  range(): RangeResponse {
    const { lock } = this.server;
    return { header: this.header(), kvs: lock ? [this.#keyValue()] : [], more: false };
  }

  txn(writer: string, { compare, success }: TxnRequest): TxnResponse {
    const { lock } = this.server;
    const modRevision = lock?.revision ?? 0n;
    const succeeded = compare.every((condition) => condition.modRevision === modRevision);
    const responses: { range: RangeResponse | undefined }[] = [];
    for (const operation of succeeded ? success : []) {
      if (operation.put) this.#put(writer, operation.put.value);
      responses.push({ range: operation.range && this.range() });
    }
    return { header: this.header(), succeeded, responses };
  }

  /** The last events, from the oldest one that a lagging member has not applied yet. @param lag from 0 to 1 */
  recent(lag: number): readonly EtcdEvent[] {
    return this.#recent.slice(this.#recent.length - Math.round(lag * this.#recent.length));
  }

  subscribe(watcher: (event: EtcdEvent | "restored") => void): () => void {
    this.#watchers.add(watcher);
    return () => this.#watchers.delete(watcher);
  }

  #put(writer: string, value: Uint8Array): void {
    const { lock } = this.server;
    const { record: sentRecord, annotations: sent } = JSON.parse(Buffer.from(value).toString());
    const { record, annotations, timeline } = parseSent(JSON.stringify(sentRecord), sent);
    const over = lock && { version: lock.version, timeline: timeline ?? lock.timeline };
    this.server.write({ writer, record, annotations, over });
  }

  #keyValue(): KeyValue {
    const { lock } = this.server;
    if (!lock) throw new Error("there is no lock");
    const value = JSON.stringify({ record: shownRecord(lock), annotations: shownAnnotations(lock) });
    const createRevision = BigInt(lock.uid.split("-")[1] ?? 0);
    return { key, createRevision, modRevision: lock.revision, value: Buffer.from(value) };
  }

  #changed(change: Change): void {
    if (change.kind === "restored") {
      this.#recent = [];
      for (const watcher of [...this.#watchers]) watcher("restored");
      return;
    }
    const event =
      change.kind === "written"
        ? { type: put, kv: this.#keyValue() }
        : {
            type: deleted,
            kv: { key, createRevision: 0n, modRevision: change.revision, value: Buffer.alloc(0) },
          };
    this.#recent = [...this.#recent, event].slice(-mostRecent);
    for (const watcher of [...this.#watchers]) watcher(event);
  }
}
