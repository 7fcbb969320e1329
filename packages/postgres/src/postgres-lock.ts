/**
 * A lock in one row of a PostgreSQL table. A write is an UPDATE of exactly the revision that was read, so it is compare-and-swap
 * without a transaction that could stay open, and without an advisory lock, which ends with its connection while the work goes
 * on. No timestamp of the server is used.
 *
 * G1 and G2 hold for one server, and over a failover only to a standby that has every acknowledged commit: see
 * docs/tasks/elect-without-kubernetes.md.
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
  viewOfStored,
  withAcceptedTransfer,
  withAnnotations,
  withRecord,
} from "@tenure/election/internal";
import { Connection } from "./connection.ts";
import { listen, NoNotifications } from "./listener.ts";
import { OwnWrites } from "./own-writes.ts";
import { defaultTable, tableProblem } from "./schema.ts";
import { answerFromError, failureFromError, type Place, ReadOnlyServer } from "./server-error.ts";
import { describeServers, serverUrls, urlProblem } from "./servers.ts";
import { type OpenSession, openSession, type Row } from "./session.ts";
import { type Statements, statementsFor } from "./statements.ts";

/** The options of a lock in PostgreSQL. `name` and `url` are required. */
export interface PostgresLockOptions {
  /** The name of the election, the same for all candidates. */
  readonly name: string;
  /**
   * `postgres://USER@HOST:5432/DATABASE`. With several hosts, `postgres://USER@A,B/DATABASE`, the writable one is used. What is
   * missing comes from PGHOST, PGPORT, PGUSER, PGPASSWORD, PGPASSFILE, PGDATABASE and PGSSLMODE.
   */
  readonly url: string;
  /**
   * Where to listen for changes, if `url` is a pooler such as PgBouncer in transaction mode, which loses notifications. Without
   * it, such a lock is polled every retryPeriod. @default url
   */
  readonly listenUrl?: string;
  /** The table, which `tenure postgres schema` creates. @default "tenure_locks" */
  readonly table?: string;
}

/** What a test or a simulation replaces. */
interface Parts {
  readonly open: OpenSession;
  readonly clock: Clock;
  readonly random: () => number;
}

/**
 * Stores the record in one row of a PostgreSQL table.
 * @example new PostgresLock({ name: "billing", url: "postgres://worker@db.example.com/app" })
 */
export class PostgresLock implements OperableLock {
  readonly description: string;
  readonly #options: PostgresLockOptions;
  readonly #statements: Statements;
  readonly #connection: Connection;
  readonly #ownWrites = new OwnWrites();
  readonly #parts: Parts;
  #observer: LockObserver | undefined;

  constructor(options: PostgresLockOptions, parts: Partial<Parts> = {}) {
    const problems = checkPostgresLockOptions(options);
    if (problems.length > 0) throw invalidOptions("use PostgreSQL as a lock", problems);
    const { name, url, table = defaultTable } = options;
    this.#options = options;
    this.#parts = { open: openSession, clock: systemClock, random: systemRandom, ...parts };
    this.#statements = statementsFor(table);
    this.#connection = new Connection(serverUrls(url), this.#parts.open);
    this.description = `row ${name} of ${table} in ${describeServers(url)}`;
  }

  async serverAddress(): Promise<string> {
    return describeServers(this.#options.url);
  }

  async read(signal: AbortSignal): Promise<Answer> {
    const mustConfirm = this.#ownWrites.areUnknown;
    const { read, confirmedRead } = this.#statements;
    try {
      const [row] = await this.#query(mustConfirm ? confirmedRead : read, [], signal);
      if (row?.replica !== false) {
        this.#connection.reject();
        throw new ReadOnlyServer("the server is a standby");
      }
      if (mustConfirm) this.#ownWrites.confirmed();
      return row.uid === null ? { kind: "absent" } : { kind: "found", view: viewOf(row) };
    } catch (error) {
      return this.#failed(error, "read the lock");
    }
  }

  async write(record: LeaderRecord, over: LockView | undefined, signal: AbortSignal): Promise<Answer> {
    this.#ownWrites.sending(record);
    const answer = await this.#write(withRecord(over, record), over, signal);
    if (answer.kind === "found") this.#ownWrites.confirmed();
    // The server has answered, and this write is not in the table. An earlier one may be.
    if (answer.kind === "conflict") this.#ownWrites.rejected(record);
    if (this.#ownWrites.settled()) this.#observer?.changed();
    return answer;
  }

  async acceptTransfer(over: LockView, signal: AbortSignal): Promise<Answer> {
    const accepted = withAcceptedTransfer(over);
    return accepted ? this.#write(accepted, over, signal) : { kind: "conflict" };
  }

  annotate(over: LockView, changes: AnnotationChanges, signal: AbortSignal): Promise<Answer> {
    return this.#write(withAnnotations(over, changes), over, signal);
  }

  async list(signal: AbortSignal): Promise<ReadonlyMap<string, LockView>> {
    try {
      const rows = await this.#connection.query(this.#statements.list, [], signal);
      return new Map(rows.map((row) => [String(row.name), viewOf(row)]));
    } catch (error) {
      throw new Error(failureFromError(error, "list the locks", this.#place()).message, { cause: error });
    }
  }

  async hints(signal: AbortSignal): Promise<readonly string[]> {
    const [row] = await this.#connection.query(this.#statements.replication, [], signal);
    return row?.standbys !== "0" && row?.synchronous === ""
      ? [
          "the server has a standby, but commits do not wait for it: a failover can lose an acquired lock, and then two " +
            "candidates lead; set synchronous_standby_names",
        ]
      : [];
  }

  watch(observer: LockObserver, signal: AbortSignal): void {
    this.#observer = observer;
    const { url, listenUrl = url, name } = this.#options;
    const parts = {
      ...this.#parts,
      urls: serverUrls(listenUrl),
      channelSql: this.#statements.channel,
      name,
      onUp: () => {
        observer.up();
        // What changed before was not announced: during a gap, or since the candidate first read the lock.
        observer.changed();
      },
      onPayload: (payload: string) => this.#report(payload, observer),
      onDown: (error: unknown) => observer.down(this.#watchFailure(error)),
    };
    listen(parts, signal).finally(() => {
      // The candidate has stopped. The server need not keep a connection for it.
      this.#connection.closeIfIdle();
    });
  }

  async #write(stored: StoredLock, over: LockView | undefined, signal: AbortSignal): Promise<Answer> {
    const { insert, create, update } = this.#statements;
    const record = JSON.stringify(stored.record);
    try {
      if (!over) await this.#query(insert, [], signal);
      const [row] = over
        ? await this.#query(
            update,
            [record, JSON.stringify(stored.annotations), over.uid, over.version],
            signal,
          )
        : await this.#query(create, [record], signal);
      return row ? { kind: "found", view: viewOf(row) } : { kind: "conflict" };
    } catch (error) {
      return this.#failed(error, "write the lock");
    }
  }

  #query(text: string, values: readonly unknown[], signal: AbortSignal): Promise<readonly Row[]> {
    return this.#connection.query(text, [this.#options.name, ...values], signal);
  }

  #failed(error: unknown, action: string): Answer {
    return answerFromError(error, `${action} ${this.#options.name}`, this.#place());
  }

  /** Reports what a notification says. What cannot be understood or must be confirmed is left to a read. */
  #report(payload: string, observer: LockObserver): void {
    try {
      const { deleted, uid, revision, lock } = JSON.parse(payload);
      if (deleted !== undefined) {
        observer.deleted(BigInt(deleted));
        return;
      }
      const view = viewOfStored(String(uid), BigInt(revision), readStoredLock(lock));
      const judgement = this.#ownWrites.judge(view.record);
      if (judgement === "believe") observer.observed(view);
      else if (judgement === "read") observer.changed();
    } catch {
      observer.changed();
    }
  }

  #watchFailure(error: unknown) {
    const action = `listen for changes of the lock ${this.#options.name}`;
    if (!(error instanceof NoNotifications)) return failureFromError(error, action, this.#place());
    const fix = this.#options.listenUrl === undefined ? "listenUrl" : "another listenUrl";
    return {
      kind: "server" as const,
      message:
        `Cannot ${action} in ${describeServers(this.#options.listenUrl ?? this.#options.url)}: notifications do not arrive, ` +
        "probably because of a pooler in transaction mode. The lock is read every retryPeriod instead. " +
        `Pass ${fix}, the URL of the server itself, to avoid that`,
    };
  }

  #place(): Place {
    const { url, table = defaultTable } = this.#options;
    return { server: describeServers(url), table, role: this.#connection.role };
  }
}

/** Every problem with the options of a PostgresLock. */
function checkPostgresLockOptions(options: PostgresLockOptions): readonly Problem[] {
  const { name, url, listenUrl, table = defaultTable } = options;
  const isName = typeof name === "string" && /^[^\p{Cc}]{1,253}$/u.test(name);
  return [
    ...unknownOptions(options, { name: true, url: true, listenUrl: true, table: true }),
    isName
      ? undefined
      : { field: "name", rule: "must be a text of 1 to 253 printable characters", value: quote(name) },
    urlProblem("url", url),
    listenUrl === undefined ? undefined : urlProblem("listenUrl", listenUrl),
    tableProblem(table),
  ].filter((problem) => problem !== undefined);
}

function viewOf({ uid, revision, record, annotations }: Row): LockView {
  return viewOfStored(String(uid), BigInt(String(revision)), readStoredLock({ record, annotations }));
}
