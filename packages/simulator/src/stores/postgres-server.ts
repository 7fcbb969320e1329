/**
 * A PostgreSQL server with the table of one lock, as far as its statements go: each is a transaction of its own, an UPDATE
 * compares what its WHERE names, the sequence survives a deletion, and triggers notify the listeners after the commit.
 *
 * The server may have a synchronous standby. While it is away, a commit waits, and somebody may cancel the wait: the commit is
 * visible then, and a failover undoes it.
 */
import type { Backup, Change, Server } from "../server.ts";
import { parseSent, shownAnnotations, shownRecord } from "./store-parts.ts";

export type Row = Record<string, unknown>;

/** How far ahead a standby's sequence is after a failover: PostgreSQL logs that many values at once. */
const sequenceStep = 32n;
const channel = "tenure_sim";

export class PostgresServer {
  readonly server: Server;
  /** A row without a lock: somebody inserted it, and has not made a lock of it. */
  #hasRow = false;
  #isStandbyAway = false;
  /** The state that the standby has, if that is not the current one. */
  #confirmed: Backup | undefined;
  readonly #listeners = new Set<(payload: string) => void>();
  readonly #sessions = new Set<() => void>();

  constructor(server: Server) {
    this.server = server;
    server.store.isEveryWriteNew = true;
    server.subscribe((change) => this.#changed(change));
  }

  get isStandbyAway(): boolean {
    return this.#isStandbyAway;
  }

  standbyLeaves(): void {
    this.#isStandbyAway = true;
  }

  standbyReturns(): void {
    this.#isStandbyAway = false;
    this.#confirmed = undefined;
  }

  /** The standby becomes the primary. Commits that it does not have are gone. */
  failOver(): void {
    const { store } = this.server;
    this.#isStandbyAway = false;
    const { revision } = store;
    if (this.#confirmed) {
      const confirmed = this.#confirmed;
      this.#confirmed = undefined;
      store.restore(confirmed);
      store.revision = revision + sequenceStep;
    }
    for (const end of [...this.#sessions]) end();
  }

  /** A connection, which ends when the server restarts. */
  connect(end: () => void): () => void {
    this.#sessions.add(end);
    return () => this.#sessions.delete(end);
  }

  listen(listener: (payload: string) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  notify(payload: string): void {
    for (const listener of [...this.#listeners]) listener(payload);
  }

  /** Whether a statement waits until its transaction is on the standby. */
  static waits(text: string): boolean {
    return /^(INSERT|UPDATE)/.test(text) || text.includes("pg_logical_emit_message");
  }

  execute(writer: string, text: string, values: readonly string[]): Row[] {
    if (text.startsWith("SHOW")) return [{ transaction_read_only: "off" }];
    if (text.startsWith("SELECT 'tenure_'")) return [{ channel }];
    if (text.startsWith("SELECT pg_is_in_recovery()"))
      return [{ replica: false, ...this.#row(), ...this.#absent() }];
    if (text.startsWith("SELECT pg_notify")) this.notify(values[1] ?? "");
    if (text.startsWith("INSERT")) this.#hasRow ||= !this.server.lock;
    return text.startsWith("UPDATE") ? this.#update(writer, text, values) : [];
  }

  /** Commits, although the standby does not have it. */
  executeUnconfirmed(writer: string, text: string, values: readonly string[]): Row[] {
    this.#confirmed ??= this.server.store.backup();
    return this.execute(writer, text, values);
  }

  #update(writer: string, text: string, values: readonly string[]): Row[] {
    const { lock } = this.server;
    const [, record = "", annotations = "{}", uid, revision] = values;
    const isCreation = text.includes("revision = 0");
    if (isCreation ? lock || !this.#hasRow : !lock) return [];
    if (text.includes("uid = $4") && lock?.uid !== uid) return [];
    if (text.includes("revision = $5") && lock?.version !== revision) return [];
    const { timeline, ...sent } = parseSent(record, JSON.parse(annotations));
    const over = lock && { version: lock.version, timeline: timeline ?? lock.timeline };
    const answer = this.server.write({ writer, ...sent, over });
    this.#hasRow = false;
    return answer.kind === "found" ? [this.#row()] : [];
  }

  #row(): Row {
    const { lock } = this.server;
    if (!lock) return {};
    const [uid, revision] = [lock.uid, lock.version];
    // As the driver parses it, a value of its own for each reader.
    return { uid, revision, ...JSON.parse(JSON.stringify(contentOf(lock))) };
  }

  #absent(): Row {
    return this.server.lock ? {} : { uid: null, revision: null, record: null, annotations: null };
  }

  #changed(change: Change): void {
    if (change.kind === "restored") {
      this.#hasRow = false;
      this.#confirmed = undefined;
      for (const end of [...this.#sessions]) end();
      return;
    }
    if (change.kind === "deleted") {
      this.#hasRow = false;
      this.notify(JSON.stringify({ deleted: String(change.revision) }));
      return;
    }
    const { uid, version: revision } = change.lock;
    this.notify(JSON.stringify({ uid, revision, lock: contentOf(change.lock) }));
  }
}

function contentOf(lock: Parameters<typeof shownRecord>[0]) {
  return { record: shownRecord(lock), annotations: shownAnnotations(lock) };
}
