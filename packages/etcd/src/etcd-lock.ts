/**
 * A lock in one key of etcd. A write is a transaction that puts the key only if its mod_revision is the one that was read, so it
 * is compare-and-swap. Reads are linearizable. The lock does not use etcd's own lock and election services: their leases end on
 * the server while the work goes on. Revisions are those of the whole store, so they grow when the key is deleted too (G2).
 */
import { type Clock, type Problem, quote, systemClock, systemRandom, unknownOptions } from "@tenure/base";
import type { Answer, LeaderRecord, LockView } from "@tenure/core";
import type { LockObserver } from "@tenure/election";
import {
  type AnnotationChanges,
  invalidOptions,
  type OperableLock,
  readStoredLock,
  type StoredLock,
  UnreadableRecord,
  viewOfStored,
  withAcceptedTransfer,
  withAnnotations,
  withRecord,
} from "@tenure/election/internal";
import { Connection, type ConnectionOptions, type EtcdTls, type OpenClient } from "./connection.ts";
import { endpointProblems, readEndpoints } from "./endpoints.ts";
import { failed, failureFromError, type Place } from "./server-error.ts";
import { watchKey } from "./watcher.ts";
import { compareModRevision, deletion, type KeyValue, range, txn } from "./wire/messages.ts";

/** The options of a lock in etcd. `name` and `endpoints` are required. */
export interface EtcdLockOptions {
  /** The name of the election, the same for all candidates. */
  readonly name: string;
  /** The members of the cluster: `["https://a:2379", "https://b:2379"]`. An address without a scheme is used without TLS. */
  readonly endpoints: readonly string[];
  /** The key of the lock is this and the name. @default "/tenure/" */
  readonly prefix?: string;
  /** @default none: etcd does not ask for one */
  readonly username?: string;
  /** @default none */
  readonly password?: string;
  /** Certificates for https endpoints. @default the authorities of Node, and no certificate of this client */
  readonly tls?: EtcdTls;
}

/** What a test or a simulation replaces. */
interface Parts {
  readonly open: OpenClient | undefined;
  readonly clock: Clock;
  readonly random: () => number;
}

const defaultPrefix = "/tenure/";

/** How many locks a list shows at most. */
const mostListed = 1_000n;

/** The limit of a request whose caller sets none, and the least limit: the caller gives up before. */
const leastLimitMs = 10_000;

/**
 * Stores the record in one key of etcd.
 * @example new EtcdLock({ name: "billing", endpoints: ["https://a:2379", "https://b:2379"] })
 */
export class EtcdLock implements OperableLock {
  readonly description: string;
  readonly #options: EtcdLockOptions;
  readonly #keyText: string;
  readonly #key: Buffer;
  readonly #server: string;
  readonly #connection: Connection;
  readonly #parts: Parts;

  constructor(options: EtcdLockOptions, parts: Partial<Parts> = {}) {
    const problems = checkEtcdLockOptions(options);
    if (problems.length > 0) throw invalidOptions("use etcd as a lock", problems);
    const { name, prefix = defaultPrefix, endpoints } = options;
    this.#options = options;
    this.#parts = { open: undefined, clock: systemClock, random: systemRandom, ...parts };
    this.#keyText = `${prefix}${name}`;
    this.#key = Buffer.from(this.#keyText);
    this.#connection = this.#newConnection();
    this.#server = `etcd ${readEndpoints(endpoints).addresses.join(",")}`;
    this.description = `key ${this.#keyText} in ${this.#server}`;
  }

  async serverAddress(): Promise<string> {
    return this.#server;
  }

  async read(signal: AbortSignal, timeoutMs?: number): Promise<Answer> {
    try {
      const { header, kvs } = await this.#connection.call(
        range,
        { key: this.#key },
        signal,
        limitOf(timeoutMs),
      );
      const [kv] = kvs;
      return kv ? { kind: "found", view: viewOf(header.clusterId, kv) } : { kind: "absent" };
    } catch (error) {
      return failed(error, `read the lock ${this.#options.name}`, this.#place());
    }
  }

  write(
    record: LeaderRecord,
    over: LockView | undefined,
    signal: AbortSignal,
    timeoutMs?: number,
  ): Promise<Answer> {
    return this.#write(withRecord(over, record), over, signal, timeoutMs);
  }

  async acceptTransfer(over: LockView, signal: AbortSignal, timeoutMs?: number): Promise<Answer> {
    const accepted = withAcceptedTransfer(over);
    return accepted ? this.#write(accepted, over, signal, timeoutMs) : { kind: "conflict" };
  }

  annotate(over: LockView, changes: AnnotationChanges, signal: AbortSignal): Promise<Answer> {
    return this.#write(withAnnotations(over, changes), over, signal, undefined);
  }

  async list(signal: AbortSignal): Promise<ReadonlyMap<string, LockView>> {
    const prefix = Buffer.from(this.#options.prefix ?? defaultPrefix);
    const request = { key: prefix, rangeEnd: endOfPrefix(prefix), limit: mostListed };
    try {
      const { header, kvs } = await this.#connection.call(range, request, signal, leastLimitMs);
      const named = kvs.map(
        (kv) =>
          [Buffer.from(kv.key).subarray(prefix.length).toString(), viewOf(header.clusterId, kv)] as const,
      );
      return new Map(named);
    } catch (error) {
      const place = { ...this.#place(), key: `--prefix=true ${prefix}` };
      throw new Error(failureFromError(error, "list the locks", place).message, { cause: error });
    }
  }

  watch(observer: LockObserver, signal: AbortSignal): void {
    const action = `watch the lock ${this.#options.name}`;
    const parts = {
      // A connection of its own, so that a broken watch does not cost a renewal.
      connection: this.#newConnection(),
      key: this.#key,
      clock: this.#parts.clock,
      random: this.#parts.random,
      onUp: () => {
        observer.up();
        // What changed before was not reported: during a gap, or since the candidate first read the lock.
        observer.changed();
      },
      onEvents: ({ header, events }: { header: { clusterId: bigint }; events: readonly WatchEvent[] }) => {
        for (const event of events) report(header.clusterId, event, observer);
      },
      onDown: (error: unknown) => observer.down(failureFromError(error, action, this.#place())),
    };
    // The candidate has stopped then.
    watchKey(parts, signal).finally(() => this.#connection.closeIfIdle());
  }

  async #write(
    stored: StoredLock,
    over: LockView | undefined,
    signal: AbortSignal,
    timeoutMs: number | undefined,
  ): Promise<Answer> {
    const key = this.#key;
    const request = {
      // A key that does not exist has the mod_revision 0.
      compare: [{ target: compareModRevision, key, modRevision: over?.revision ?? 0n }],
      success: [{ put: { key, value: Buffer.from(JSON.stringify(stored)) } }, { range: { key } }],
    };
    try {
      const answer = await this.#connection.call(txn, request, signal, limitOf(timeoutMs));
      if (!answer.succeeded) return { kind: "conflict" };
      const [kv] = answer.responses.at(-1)?.range?.kvs ?? [];
      if (!kv) throw new Error("the answer does not contain the key that was written");
      return { kind: "found", view: viewOf(answer.header.clusterId, kv) };
    } catch (error) {
      return failed(error, `write the lock ${this.#options.name}`, this.#place());
    }
  }

  #newConnection(): Connection {
    const { clock, open } = this.#parts;
    return new Connection(connectionOptions(this.#options), clock, open);
  }

  #place(): Place {
    return { server: this.#server, key: this.#keyText };
  }
}

interface WatchEvent {
  readonly type: bigint;
  readonly kv: KeyValue;
}

function report(clusterId: bigint, { type, kv }: WatchEvent, observer: LockObserver): void {
  if (type === deletion) {
    observer.deleted(kv.modRevision);
    return;
  }
  try {
    observer.observed(viewOf(clusterId, kv));
  } catch {
    // The value is unreadable. A read will fail in the same way and report it.
    observer.changed();
  }
}

/** A restored etcd is a new cluster, in which old revisions are given out again. So the cluster is part of the uid. */
function viewOf(clusterId: bigint, { createRevision, modRevision, value }: KeyValue): LockView {
  const uid = `${BigInt.asUintN(64, clusterId).toString(16)}-${createRevision}`;
  return viewOfStored(uid, modRevision, readStoredLock(parse(value)));
}

/** The first key that does not begin with the prefix. The prefix has only printable characters, so its last byte can grow. */
function endOfPrefix(prefix: Buffer): Buffer {
  const end = Buffer.from(prefix);
  end[end.length - 1] = (end.at(-1) ?? 0) + 1;
  return end;
}

function parse(value: Uint8Array): unknown {
  const text = Buffer.from(value).toString("utf8");
  try {
    return JSON.parse(text);
  } catch {
    throw new UnreadableRecord(`the value of the key is not JSON: ${JSON.stringify(text.slice(0, 80))}`);
  }
}

/**
 * The candidate gives up at its own limit, but first handles an answer that arrived while the process was frozen. gRPC does not
 * promise that, so its limit comes well after the candidate's.
 */
function limitOf(timeoutMs: number | undefined): number {
  return Math.max((timeoutMs ?? 0) + 1_000, leastLimitMs);
}

function connectionOptions({ endpoints, username, password, tls }: EtcdLockOptions): ConnectionOptions {
  return { endpoints, username, password, tls };
}

/** Every problem with the options of an EtcdLock. */
const knownOptions: Readonly<Record<keyof EtcdLockOptions, true>> = {
  name: true,
  endpoints: true,
  prefix: true,
  username: true,
  password: true,
  tls: true,
};

function checkEtcdLockOptions(options: EtcdLockOptions): readonly Problem[] {
  const { name, endpoints, prefix = defaultPrefix, username, password, tls } = options;
  const problems = [...unknownOptions(options, knownOptions), ...endpointProblems(endpoints)];
  if (typeof name !== "string" || !/^[^\p{Cc}]{1,253}$/u.test(name)) {
    problems.push({
      field: "name",
      rule: "must be a text of 1 to 253 printable characters",
      value: quote(name),
    });
  }
  if (typeof prefix !== "string" || prefix === "" || /\p{Cc}/u.test(prefix))
    problems.push({ field: "prefix", rule: "must be a text of printable characters", value: quote(prefix) });
  if (password !== undefined && username === undefined)
    problems.push({ field: "password", rule: "needs {username}" });
  if ((tls?.cert === undefined) !== (tls?.key === undefined))
    problems.push({ field: "tls", rule: "must have both cert and key, or neither" });
  if (tls !== undefined && problems.length === 0 && !readEndpoints(endpoints).isTls)
    problems.push({ field: "tls", rule: "needs endpoints that begin with https://" });
  return problems;
}
