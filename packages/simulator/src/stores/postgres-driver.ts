/**
 * Replaces the driver pg for one process: its queries travel through the faulty link to the simulated server. A connection
 * breaks, late or at once, and with it the notifications that were under way. An answer can be lost after the commit.
 */
import { EventEmitter } from "node:events";
import { type NewDriver, type OpenSession, openSessionOf } from "@tenure/postgres/internal";
import type { ErrorKind } from "../connection.ts";
import { EventQueue } from "./event-queue.ts";
import { PostgresServer, type Row } from "./postgres-server.ts";
import type { ClientParts } from "./store-parts.ts";

/** The host of the URL that is a standby for reading. */
export const standbyHost = "standby";

export function simulatedPostgres(server: PostgresServer, parts: ClientParts): OpenSession {
  return (url, signal) => {
    const client = new Client(server, parts, url);
    const socket = {
      destroy: () => client.breakOff(undefined),
      ref: ignore,
      unref: ignore,
      setTimeout: ignore,
    };
    return openSessionOf({ client, socket } as unknown as ReturnType<NewDriver>, signal);
  };
}

interface Query {
  readonly text: string;
  readonly values: readonly string[];
  readonly resolve: (result: { rows: readonly Row[] }) => void;
  readonly reject: (error: Error) => void;
}

class Client extends EventEmitter {
  readonly user = "candidate";
  readonly #server: PostgresServer;
  readonly #parts: ClientParts;
  readonly #isStandby: boolean;
  readonly #queue: EventQueue;
  #cleanups: (() => void)[] = [];
  #unlisten: (() => void) | undefined;
  #hasEnded = false;
  #reject: ((error: Error) => void) | undefined;

  constructor(server: PostgresServer, parts: ClientParts, url: string) {
    super();
    this.#server = server;
    this.#parts = parts;
    this.#isStandby = url.includes(`@${standbyHost}/`);
    this.#queue = new EventQueue(parts);
  }

  connect(): Promise<void> {
    const { link, scheduler, random } = this.#parts;
    return new Promise((resolve, reject) => {
      this.#reject = reject;
      if (link.requestsCut) return;
      scheduler.after(link.latencyMs(), () => {
        if (this.#hasEnded || link.answersCut) return;
        const error = link.errors && random.chance(link.errors.probability) ? link.errors.kind : undefined;
        const refusal = this.#server.server.isDown ? systemError("ECONNREFUSED") : connectError(error);
        if (!refusal)
          this.#cleanups = [
            this.#server.connect(() => this.#broken("57P01")),
            link.add(() => this.#linkChanged()),
          ];
        this.#queue.send(() => (refusal ? reject(refusal) : resolve()));
      });
    });
  }

  query(text: string, values: readonly string[]): Promise<{ rows: readonly Row[] }> {
    const { link, scheduler } = this.#parts;
    return new Promise((resolve, reject) => {
      if (this.#hasEnded) {
        reject(new Error("Client has encountered a connection error and is not queryable"));
        return;
      }
      this.#reject = reject;
      if (link.requestsCut) return;
      scheduler.after(link.latencyMs(), () => this.#arrive({ text, values, resolve, reject }));
    });
  }

  async end(): Promise<void> {
    this.breakOff(undefined);
  }

  /** The connection ends here. What is under way to the server still arrives there. */
  breakOff(error: Error | undefined): void {
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#queue.close();
    this.#unlisten?.();
    for (const cleanup of this.#cleanups) cleanup();
    this.#parts.scheduler.after(0, () =>
      this.#parts.defer(() => {
        if (error) this.emit("error", error);
        this.#reject?.(error ?? new Error("Connection terminated unexpectedly"));
        this.emit("end");
      }),
    );
  }

  #arrive(query: Query): void {
    const { link, scheduler, random, writer } = this.#parts;
    const server = this.#server;
    const { text, values } = query;
    if (server.server.isDown) {
      this.#broken("57P01");
      return;
    }
    const isChange = /^(INSERT|UPDATE)/.test(text);
    const commit = () => server.execute(writer, text, values);
    if (this.#fails(query, isChange, commit)) return;
    if (this.#isStandby) {
      this.#answer(query, [{ transaction_read_only: "on" }]);
      return;
    }
    if (server.isStandbyAway && PostgresServer.waits(text)) {
      // Somebody cancels the wait, with or without an answer, or it goes on until the caller gives up.
      const end = isChange ? random.pick(["answered", "answered", "unanswered", "waiting"]) : "waiting";
      if (end === "waiting") return;
      const rows = server.executeUnconfirmed(writer, text, values);
      if (end === "answered") this.#answer(query, rows, true);
      return;
    }
    if (text.startsWith("LISTEN")) this.#listen();
    if (text.startsWith("UNLISTEN")) this.#unlisten?.();
    // A pooler sends the statement again on another connection.
    if (isChange && random.chance(link.duplicateRequests))
      scheduler.after(link.latencyMs() + random.between(0, 4_000), commit);
    this.#answer(query, commit());
  }

  /** Whether a fault keeps the query from being answered. It may have been committed. */
  #fails({ reject }: Query, isChange: boolean, commit: () => void): boolean {
    const { link, random } = this.#parts;
    const error = link.errors && random.chance(link.errors.probability) ? link.errors.kind : undefined;
    const fail = (code: string, message: string) => {
      this.#queue.send(() => reject(sqlError(code, message)));
      return true;
    };
    if (isChange && link.rejectedObject === 0)
      return fail("53100", "could not extend file: no space left on device");
    switch (error) {
      case "unavailable":
      case "throttled":
        return fail("57014", "canceling statement due to statement timeout");
      case "denied":
        return fail("42501", "permission denied for table tenure_locks");
      case "conflict":
        return isChange && fail("40001", "could not serialize access due to concurrent update");
      case undefined:
        return false;
      default:
        if (error === "cut" || (error === "internal" && random.chance(0.5))) commit();
        this.#broken(undefined);
        return true;
    }
  }

  #answer({ resolve }: Query, rows: readonly Row[], isUnconfirmed = false): void {
    const { link, random } = this.#parts;
    if (this.#hasEnded || link.answersCut || random.chance(link.loseAnswers)) return;
    this.#queue.send(() => {
      if (isUnconfirmed) this.emit("notice", { routine: "SyncRepWaitForLSN" });
      resolve({ rows });
    });
  }

  #listen(): void {
    this.#unlisten ??= this.#server.listen((payload) => {
      const { link } = this.#parts;
      if (link.watchSilent) return;
      if (link.watchDropsEvents) this.#broken(undefined);
      else
        this.#queue.send(
          () => this.emit("notification", { payload }),
          // Answers on this connection overtake what is stalled, as with a slow pooler.
          link.watchStalled || link.isCut,
        );
    });
  }

  #linkChanged(): void {
    const { link, scheduler, random } = this.#parts;
    if (this.#server.server.isDown) this.#broken("57P01");
    else if (link.isCut) {
      // A broken connection is noticed some time later, unless the link recovers first.
      scheduler.after(random.between(100, 20_000), () => {
        if (link.isCut) this.#broken(undefined);
      });
    } else if (!link.watchStalled && this.#unlisten) {
      if (link.watchDropsEvents || (!this.#queue.isEmpty && random.chance(0.5))) this.#broken(undefined);
      else this.#queue.release();
    }
  }

  #broken(code: string | undefined): void {
    this.breakOff(code ? sqlError(code, "terminating connection") : systemError("ECONNRESET"));
  }
}

function connectError(error: ErrorKind | undefined): Error | undefined {
  switch (error) {
    case undefined:
    case "conflict":
      return undefined;
    case "denied":
      return sqlError("28P01", "password authentication failed");
    case "throttled":
      return sqlError("53300", "sorry, too many clients already");
    case "unavailable":
    case "internal":
      return sqlError("57P03", "the database system is starting up");
    default:
      return systemError("ECONNRESET");
  }
}

function sqlError(code: string, message: string): Error {
  return Object.assign(new Error(message), { code });
}

function systemError(code: string): Error {
  return Object.assign(new Error(`connect ${code}`), { code });
}

function ignore(): void {}
