/**
 * One connection to one PostgreSQL server, by the driver pg. It runs one query at a time. After an error, an abort or the end of
 * the connection it is of no further use: the caller opens another one, and asks the server what happened to a write.
 */
import { Socket } from "node:net";
import { onAbort } from "@tenure/base";
import pg from "pg";
import { RequestAborted, UnconfirmedCommit } from "./server-error.ts";

/** How long a connection may take to end. */
const farewellMs = 5_000;

export type Row = Readonly<Record<string, unknown>>;

export interface Session {
  /** Rejects if the signal aborts; the server may have committed by then. */
  query(text: string, values: readonly unknown[], signal: AbortSignal): Promise<readonly Row[]>;
  /** Whether the connection has ended. */
  readonly isClosed: boolean;
  /** The role of the connection. */
  readonly role: string | undefined;
  /** Called for each notification on a channel that this session listens to. */
  onNotification: ((payload: string) => void) | undefined;
  /** Called once, when the connection ends. */
  onClose: ((error: Error | undefined) => void) | undefined;
  close(): void;
}

export type OpenSession = (url: string, signal: AbortSignal) => Promise<Session>;

/** The part of the driver and of its socket that a session uses. */
interface Driver {
  readonly client: Pick<pg.Client, "connect" | "query" | "on" | "end"> & {
    readonly user?: string | undefined;
  };
  readonly socket: Pick<Socket, "destroy" | "ref" | "unref" | "setTimeout">;
}

/** Makes a client of the one server of the URL. A simulation replaces it. */
export type NewDriver = (url: string) => Driver;

const newDriver: NewDriver = (url) => {
  const socket = new Socket();
  const client = new pg.Client({
    connectionString: url,
    stream: () => socket,
    keepAlive: true,
    keepAliveInitialDelayMillis: 15_000,
    application_name: "tenure",
  });
  return { client, socket };
};

/** Connects to the one server of the URL. */
export const openSession: OpenSession = (url, signal) => openSessionOf(newDriver(url), signal);

export async function openSessionOf({ client, socket }: Driver, signal: AbortSignal): Promise<Session> {
  if (signal.aborted) throw new RequestAborted("the request was aborted before it was sent");
  const session = new PgSession(client, socket);
  const off = onAbort(signal, () => socket.destroy());
  try {
    await client.connect();
  } catch (error) {
    socket.destroy();
    throw signal.aborted ? new RequestAborted("no answer arrived in time while connecting") : error;
  } finally {
    off();
  }
  session.rest();
  return session;
}

class PgSession implements Session {
  readonly #client: Driver["client"];
  readonly #socket: Driver["socket"];
  #isClosed = false;
  #error: Error | undefined;
  /** PostgreSQL stopped waiting for its standbys during the current query. */
  #isUnconfirmed = false;
  onNotification: ((payload: string) => void) | undefined;
  onClose: ((error: Error | undefined) => void) | undefined;

  constructor(client: Driver["client"], socket: Driver["socket"]) {
    this.#client = client;
    this.#socket = socket;
    // Without a listener, an error on an idle connection would end the process.
    client.on("error", (error: Error) => {
      this.#error ??= error;
    });
    client.on("end", () => this.#ended());
    client.on("notification", ({ payload }) => this.onNotification?.(payload ?? ""));
    // The text of the warning is translated, the name of the server's function is not.
    client.on("notice", ({ routine }: { routine?: string | undefined }) => {
      if (routine === "SyncRepWaitForLSN") this.#isUnconfirmed = true;
    });
  }

  get isClosed(): boolean {
    return this.#isClosed;
  }

  get role(): string | undefined {
    return this.#client.user;
  }

  async query(text: string, values: readonly unknown[], signal: AbortSignal): Promise<readonly Row[]> {
    if (signal.aborted) throw new RequestAborted("the request was aborted before it was sent");
    this.#isUnconfirmed = false;
    this.#socket.ref();
    const off = onAbort(signal, () => this.#socket.destroy());
    try {
      const { rows } = await this.#client.query(text, values as unknown[]);
      if (this.#isUnconfirmed) {
        throw new UnconfirmedCommit(
          "the server committed without waiting for its synchronous standbys, so a failover can undo the write",
        );
      }
      return rows;
    } catch (error) {
      throw signal.aborted ? new RequestAborted("no answer arrived in time") : (this.#error ?? error);
    } finally {
      off();
      this.rest();
    }
  }

  /** An idle connection does not keep the process alive. */
  rest(): void {
    if (!this.onNotification) this.#socket.unref();
  }

  close(): void {
    this.#client.end().catch(() => {});
    this.#socket.unref();
    // A server that is gone does not confirm the end of the connection.
    this.#socket.setTimeout(farewellMs, () => this.#socket.destroy());
  }

  #ended(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    this.onClose?.(this.#error);
  }
}
