/**
 * The connection for reads and writes of one lock. It opens a session when one is needed, to the first server that accepts
 * writes, and keeps it until something goes wrong. Only the candidate's requests use it, one after the other, so that nothing
 * queues in front of a renewal.
 */
import { ReadOnlyServer, RequestAborted } from "./server-error.ts";
import type { OpenSession, Row, Session } from "./session.ts";

export class Connection {
  readonly #urls: readonly string[];
  readonly #open: OpenSession;
  #session: Session | undefined;
  #role: string | undefined;
  /** The server to try first: the one that worked last. */
  #preferred = 0;
  #inFlight = 0;

  constructor(urls: readonly string[], open: OpenSession) {
    this.#urls = urls;
    this.#open = open;
  }

  get role(): string | undefined {
    return this.#role;
  }

  async query(text: string, values: readonly unknown[], signal: AbortSignal): Promise<readonly Row[]> {
    this.#inFlight += 1;
    try {
      const session = await this.session(signal);
      try {
        return await session.query(text, values, signal);
      } catch (error) {
        this.#drop(session);
        throw error;
      }
    } finally {
      this.#inFlight -= 1;
    }
  }

  /** Closes the session and tries another server next time. */
  reject(): void {
    this.#preferred += 1;
    if (this.#session) this.#drop(this.#session);
  }

  close(): void {
    if (this.#session) this.#drop(this.#session);
  }

  /** Closes the session unless a query uses it: the lock of a run that ended may already serve the next run. */
  closeIfIdle(): void {
    if (this.#inFlight === 0) this.close();
  }

  /** The open session, or a new one to the first server that accepts writes. */
  async session(signal: AbortSignal): Promise<Session> {
    if (this.#session && !this.#session.isClosed) return this.#session;
    this.#session = undefined;
    const failures: unknown[] = [];
    for (let index = 0; index < this.#urls.length; index++) {
      const server = (this.#preferred + index) % this.#urls.length;
      try {
        const session = await openWritable(this.#open, this.#urls[server] as string, signal);
        this.#preferred = server;
        this.#session = session;
        this.#role = session.role;
        return session;
      } catch (error) {
        if (error instanceof RequestAborted) {
          // A server that does not even refuse the connection must not be the first again.
          this.#preferred = server + 1;
          throw error;
        }
        failures.push(error);
      }
    }
    // A standby is there on purpose. The reason why the other server failed tells more.
    throw failures.find((error) => !(error instanceof ReadOnlyServer)) ?? failures[0];
  }

  #drop(session: Session): void {
    session.close();
    if (this.#session === session) this.#session = undefined;
  }
}

/** @throws ReadOnlyServer if the server is a standby */
async function openWritable(open: OpenSession, url: string, signal: AbortSignal): Promise<Session> {
  const session = await open(url, signal);
  try {
    const [row] = await session.query("SHOW transaction_read_only", [], signal);
    if (row?.transaction_read_only === "on") throw new ReadOnlyServer("the server is read-only");
    return session;
  } catch (error) {
    session.close();
    throw error;
  }
}
